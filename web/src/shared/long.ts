// A text that may be long: its beginning, and the rest on demand, up to a bound.

import { h } from "./dom.js";

const SHORT = 400;
/** More than this is never put on the page at once. */
const MOST = 200_000;

/** `text` in a `<pre>`, cut, with a button that shows more. */
export function long(text: string, label: string, short: number = SHORT): HTMLElement {
  if (text.length <= short) return h("pre", { class: "long" }, text);
  const pre = h("pre", { class: "long", tabindex: 0, "aria-label": label }, `${text.slice(0, short)}…`);
  const toggle = h(
    "button",
    {
      class: "link",
      type: "button",
      "aria-expanded": "false",
      onclick: () => {
        const open = toggle.getAttribute("aria-expanded") !== "true";
        toggle.setAttribute("aria-expanded", String(open));
        pre.replaceChildren(h("span", null, open ? text.slice(0, MOST) : `${text.slice(0, short)}…`));
        toggle.textContent = open ? "show less" : more(text);
      },
    },
    more(text),
  );
  return h("div", { class: "long-box" }, pre, toggle);
}

function more(text: string): string {
  const all = text.length.toLocaleString("en");
  return text.length > MOST
    ? `show the first ${MOST.toLocaleString("en")} of ${all} characters`
    : `show all ${all} characters`;
}
