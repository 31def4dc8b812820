// The bytes of a text, for those who must know: 16 to a line, beside what they spell.

import { type Child, h } from "../shared/dom.js";

/** Bytes shown. */
const MOST = 1024;

export function bytes(text: string): Child {
  const box = h("pre", { class: "long bytes", "aria-label": "bytes" });
  return h(
    "details",
    { ontoggle: () => box.childNodes.length === 0 && box.append(document.createTextNode(dump(text))) },
    h("summary", null, "Bytes (UTF-8)"),
    box,
  );
}

function dump(text: string): string {
  const all = new TextEncoder().encode(text.slice(0, MOST));
  const lines: string[] = [];
  for (let at = 0; at < Math.min(all.length, MOST); at += 16) {
    const row = [...all.slice(at, at + 16)];
    const hex = row.map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
    const ascii = row.map((byte) => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : "·")).join("");
    lines.push(`${at.toString(16).padStart(4, "0")}  ${hex.padEnd(47)}  ${ascii}`);
  }
  if (text.length > MOST) lines.push(`… ${text.length.toLocaleString("en")} characters in all`);
  return lines.join("\n");
}
