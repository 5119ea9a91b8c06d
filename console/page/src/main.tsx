import { render } from "preact";
import { App } from "./App";
import "./theme.css";

render(<App />, document.getElementById("page")!);
