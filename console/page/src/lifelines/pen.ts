// The picture is drawn with few strokes, by a pen that either paints a canvas or writes SVG.

export interface Pen {
  line(points: readonly { x: number; y: number }[], colour: string, width: number, alpha: number): void;
  box(x: number, y: number, width: number, height: number, colour: string, alpha: number): void;
  dot(x: number, y: number, radius: number, colour: string): void;
  text(x: number, y: number, text: string, colour: string, align: "start" | "middle" | "end"): void;
}

export const FONT = "12px system-ui, sans-serif";

export function canvasPen(context: CanvasRenderingContext2D): Pen {
  context.lineJoin = "round";
  context.font = FONT;
  context.textBaseline = "middle";
  return {
    line(points, colour, width, alpha) {
      context.globalAlpha = alpha;
      context.strokeStyle = colour;
      context.lineWidth = width;
      context.beginPath();
      points.forEach((point, i) => (i ? context.lineTo(point.x, point.y) : context.moveTo(point.x, point.y)));
      context.stroke();
    },
    box(x, y, width, height, colour, alpha) {
      context.globalAlpha = alpha;
      context.fillStyle = colour;
      context.fillRect(x, y, width, height);
    },
    dot(x, y, radius, colour) {
      context.globalAlpha = 1;
      context.fillStyle = colour;
      context.beginPath();
      context.arc(x, y, radius, 0, 2 * Math.PI);
      context.fill();
    },
    text(x, y, text, colour, align) {
      context.globalAlpha = 1;
      context.fillStyle = colour;
      context.textAlign = align === "middle" ? "center" : align;
      context.fillText(text, x, y);
    },
  };
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
}

const px = (n: number) => Number(n.toFixed(2));

export function svgPen(width: number, height: number, background: string): { pen: Pen; document(): string } {
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${px(width)}" height="${px(height)}" viewBox="0 0 ${px(width)} ${px(height)}">`,
    `<rect width="100%" height="100%" fill="${background}"/>`,
  ];
  return {
    pen: {
      line(points, colour, lineWidth, alpha) {
        const corners = points.map((point) => `${px(point.x)},${px(point.y)}`).join(" ");
        parts.push(`<polyline points="${corners}" fill="none" stroke="${colour}" stroke-width="${lineWidth}" opacity="${px(alpha)}"/>`);
      },
      box(x, y, w, h, colour, alpha) {
        parts.push(`<rect x="${px(x)}" y="${px(y)}" width="${px(w)}" height="${px(h)}" fill="${colour}" opacity="${px(alpha)}"/>`);
      },
      dot(x, y, radius, colour) {
        parts.push(`<circle cx="${px(x)}" cy="${px(y)}" r="${radius}" fill="${colour}"/>`);
      },
      text(x, y, text, colour, align) {
        parts.push(`<text x="${px(x)}" y="${px(y)}" dy="0.35em" font-family="system-ui, sans-serif" font-size="12" fill="${colour}" text-anchor="${align}">${escaped(text)}</text>`);
      },
    },
    document: () => `${parts.join("\n")}\n</svg>\n`,
  };
}
