// Small parts that several pages of the report use.

import { type Child, h } from "../shared/dom.js";
import type { SwitchShown } from "./views.js";
import { STATUS, type Status } from "./coverage.js";

/** The address of a place in this report. */
export function to(...path: (string | number)[]): string {
  return `#/${path.map((part) => encodeURIComponent(String(part))).join("/")}`;
}

export function link(text: Child, ...path: (string | number)[]): HTMLElement {
  return h("a", { href: to(...path) }, text);
}

/** A switch by name, which leads to its place in the picture. */
export function switchLink(label: string): HTMLElement {
  return h("a", { href: to("model", label), class: "switch-link" }, label);
}

export function statusBadge(status: Status): HTMLElement {
  const { sign, word, about } = STATUS[status];
  return h("span", { class: `badge status ${status}`, title: about }, h("span", { "aria-hidden": "true" }, sign), word);
}

/** A card with a heading. */
export function card(title: Child, ...children: Child[]): HTMLElement {
  return h("section", { class: "card" }, title !== null && h("h2", null, title), children);
}

/** Facts in two columns. */
export function facts(rows: [string, Child][]): HTMLElement {
  const row = ([name, value]: [string, Child]): HTMLElement[] => [h("dt", null, name), h("dd", null, value)];
  return h("dl", { class: "facts" }, rows.filter(([, value]) => value !== null && value !== "").map(row));
}

export function plural(n: number, word: string): string {
  return `${n.toLocaleString("en")} ${word}${n === 1 ? "" : "s"}`;
}

/** Parts of a whole as one bar, with a legend. */
export function stacked(parts: { word: string; n: number; mark: string; sign: string }[], label: string): HTMLElement {
  const shown = parts.filter(({ n }) => n > 0);
  const told = shown.map(({ word, n }) => `${n} ${word}`).join(", ");
  const ink = ({ n, mark }: { n: number; mark: string }): HTMLElement => {
    const part = h("span", { class: `part ${mark}` });
    part.style.flexGrow = String(n);
    return part;
  };
  const entry = ({ word, n, mark, sign }: { word: string; n: number; mark: string; sign: string }): HTMLElement =>
    h(
      "li",
      null,
      h("span", { class: `dot ${mark}`, "aria-hidden": "true" }, sign),
      `${n.toLocaleString("en")} ${word}`,
    );
  return h(
    "div",
    { class: "stacked" },
    h("div", { class: "rail", role: "img", "aria-label": `${label}: ${told}` }, shown.map(ink)),
    h("ul", { class: "legend" }, shown.map(entry)),
  );
}

/** A switch in one line. */
export function switchText(it: SwitchShown): string {
  const guard = it.guard.length > 0 ? ` [${it.guard.join(" && ")}]` : "";
  return `${it.message}${guard}`;
}

/** Buttons of which one is pressed. */
export function choice<T extends string>(
  label: string,
  options: { key: T; text: string }[],
  first: T,
  chosen: (key: T) => void,
): HTMLElement {
  const buttons = options.map(({ key, text }) => {
    const button = h("button", { type: "button", class: "chip", "aria-pressed": String(key === first) }, text);
    button.addEventListener("click", () => {
      for (const other of buttons) other.setAttribute("aria-pressed", String(other === button));
      chosen(key);
    });
    return button;
  });
  return h("div", { class: "chips", role: "group", "aria-label": label }, buttons);
}
