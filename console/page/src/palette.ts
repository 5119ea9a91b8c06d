// Colours of pictures: those of Okabe and Ito, which people with any kind of colour vision tell apart; for a dark background
// lighter ones of the same hues.

export interface Palette {
  background: string; grid: string; text: string; density: string; halo: string; selected: string; accent: string;
  series: readonly string[];
  /** ok, error, not ended */
  outcomes: readonly string[];
}

export const LIGHT: Palette = {
  background: "#ffffff", grid: "#d5dae1", text: "#1c2430", density: "#8d99a8", halo: "#ffffff", selected: "#000000", accent: "#0072b2",
  series: ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b8860b", "#56b4e9", "#5b4a9e", "#444444"],
  outcomes: ["#0072b2", "#d55e00", "#b8860b"],
};

export const DARK: Palette = {
  background: "#12161c", grid: "#2c3440", text: "#e6ebf2", density: "#5d6b7d", halo: "#12161c", selected: "#ffffff", accent: "#56b4e9",
  series: ["#56b4e9", "#ff8c42", "#2ecc9a", "#e59cc6", "#f0e442", "#8fd0ff", "#a99af0", "#b0b8c2"],
  outcomes: ["#56b4e9", "#ff8c42", "#f0e442"],
};
