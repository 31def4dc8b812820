// Keys for the whole page, and the sheet that lists them.

import { h } from "./dom.js";

interface Key {
  key: string;
  what: string;
  act: () => void;
}

const keys: Key[] = [];
let sheet: HTMLDialogElement | null = null;

/** Lets `key` (as in `KeyboardEvent.key`) do something wherever nobody is typing. */
export function bind(key: string, what: string, act: () => void): void {
  keys.push({ key, what, act });
}

/** Starts to listen; `?` shows the keys. */
export function listen(): void {
  bind("?", "show the keys", help);
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (event.target instanceof Element && event.target.closest("input, select, textarea, dialog") !== null) return;
    const bound = keys.find(({ key }) => key === event.key);
    if (bound === undefined) return;
    event.preventDefault();
    bound.act();
  });
}

/** Shows the keys. */
export function help(): void {
  if (sheet === null) {
    const rows = keys.map(({ key, what }) => h("tr", null, h("td", null, h("kbd", null, key)), h("td", null, what)));
    const close = h("button", { type: "button", onclick: () => sheet?.close() }, "close");
    sheet = h("dialog", { "aria-label": "keys" }, h("h2", null, "Keys"), h("table", null, rows), close);
    document.body.append(sheet);
  }
  if (!sheet.open) sheet.showModal();
}
