// Text to be copied, also where the page comes from a disk and no server.

import { h } from "./dom.js";

/** `text` as code with a button that copies it. */
export function copyable(text: string, label: string): HTMLElement {
  const code = h("code", null, text);
  return h("div", { class: "copyable" }, code, copyButton(text, label, code));
}

/** Lines of `text` as code with a button that copies them. */
export function copyableBlock(text: string, label: string): HTMLElement {
  const code = h("pre", { class: "long script", tabindex: 0, "aria-label": label }, text);
  return h("div", { class: "copyable-block" }, copyButton(text, label, code), code);
}

function copyButton(text: string, label: string, code: HTMLElement): HTMLElement {
  const button = h(
    "button",
    { class: "quiet", type: "button", "aria-label": `copy ${label}`, onclick: () => void copy() },
    "copy",
  );
  const copy = async (): Promise<void> => {
    button.textContent = (await copied(text)) ? "copied" : select(code);
    setTimeout(() => (button.textContent = "copy"), 1500);
  };
  return button;
}

/** Puts `text` into the clipboard; says whether it is there. */
async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copiedFromArea(text);
  }
}

/** The way for browsers without a clipboard for pages from disk. The shown text may differ from `text`, so a field
 * holds it. */
function copiedFromArea(text: string): boolean {
  const area = h("textarea", { class: "copy-source", readonly: true, "aria-hidden": "true" });
  area.value = text;
  document.body.append(area);
  area.select();
  try {
    return document.execCommand("copy");
  } catch {
    return false;
  } finally {
    area.remove();
  }
}

function select(code: HTMLElement): string {
  getSelection()?.selectAllChildren(code);
  return "selected";
}
