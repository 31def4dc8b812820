// A command to be copied.

import { h } from "./dom.js";

/** `text` as code with a button that copies it. */
export function copyable(text: string, label: string): HTMLElement {
  const code = h("code", null, text);
  const button = h(
    "button",
    { class: "quiet", type: "button", "aria-label": `copy ${label}`, onclick: () => void copy() },
    "copy",
  );
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "copied";
    } catch {
      getSelection()?.selectAllChildren(code);
      button.textContent = "selected";
    }
    setTimeout(() => (button.textContent = "copy"), 1500);
  };
  return h("div", { class: "copyable" }, code, button);
}
