// Verdicts as words and signs: colour is never the only difference.

import { h } from "./dom.js";
import type { Outcome } from "./words.js";

const SIGNS: Record<Outcome, string> = { pass: "✓", fail: "✗", inconclusive: "?", error: "!", interrupted: "‖" };
const WORDS: Record<Outcome, string> = {
  pass: "passed",
  fail: "failed",
  inconclusive: "inconclusive",
  error: "no verdict",
  interrupted: "interrupted",
};

/** A badge with sign and word. */
export function badge(outcome: Outcome, text?: string): HTMLElement {
  const sign = h("span", { "aria-hidden": "true" }, SIGNS[outcome]);
  return h("span", { class: `badge ${outcome}` }, sign, text ?? WORDS[outcome]);
}
