// Bars: how often each value was met.

import { h } from "./dom.js";

export interface Bar {
  name: string;
  n: number;
  /** Shown behind the figure. */
  note?: string;
}

/** One line per bar, with its name, its length and its figure. */
export function bars(list: Bar[], label: string): HTMLElement {
  const most = Math.max(1, ...list.map(({ n }) => n));
  const line = ({ name, n, note }: Bar): HTMLElement => {
    const ink = h("span", { class: "bar-ink", role: "presentation" });
    ink.style.width = `${Math.max(n > 0 ? 1 : 0, (100 * n) / most)}%`;
    return h(
      "div",
      { class: "bar", role: "listitem", title: name },
      h("span", { class: "bar-name" }, name),
      h("span", { class: "bar-rail", role: "presentation" }, ink),
      h("span", { class: "bar-n" }, n.toLocaleString("en"), note !== undefined && h("small", null, ` ${note}`)),
    );
  };
  return h("div", { class: "bars", role: "list", "aria-label": label }, list.map(line));
}
