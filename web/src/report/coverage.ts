// What is known of every switch: could it be taken, and was it?

import type { DocumentView, SwitchShown, TakenView } from "./views.js";

export type Status = "taken" | "failing" | "maybe" | "never" | "unreachable" | "unseen" | "unknown" | "plain";

export interface StatusText {
  sign: string;
  word: string;
  about: string;
  /** The word the style sheet of the picture knows. */
  mark: string;
}

export const STATUS: Record<Status, StatusText> = {
  taken: { sign: "✓", word: "taken", about: "certainly taken by a run", mark: "taken" },
  failing: { sign: "✗", word: "failing runs only", about: "taken, but only by runs that failed", mark: "suspect" },
  maybe: {
    sign: "~",
    word: "possibly taken",
    about: "one of several transitions that explain a message",
    mark: "maybe",
  },
  never: { sign: "○", word: "never taken", about: "a path leads to it, no run went there", mark: "never" },
  unreachable: { sign: "⊘", word: "unreachable", about: "proved: nothing can take it", mark: "unreachable" },
  unseen: { sign: "τ", word: "internal", about: "it has no message, so nobody can see it", mark: "" },
  plain: { sign: "·", word: "reachable", about: "a path leads to it", mark: "" },
  unknown: {
    sign: "?",
    word: "never taken; unknown whether it can be",
    about: "not taken, and not known whether it can be",
    mark: "never",
  },
};

export const ORDER: Status[] = ["taken", "failing", "maybe", "never", "unknown", "unreachable", "unseen", "plain"];

/** What is known of a switch. */
export function status(document: DocumentView, it: SwitchShown): Status {
  const taken = takenBy(document, it.label);
  if (taken !== undefined && taken.certain > 0) {
    return taken.passing.n === 0 && taken.others.n === 0 ? "failing" : "taken";
  }
  if (taken !== undefined && taken.possible > 0) return "maybe";
  if (it.reach === "never") return "unreachable";
  if (document.campaign === null && it.reach === "reached") return "plain";
  if (it.kind === "internal") return "unseen";
  return it.reach === "reached" ? "never" : "unknown";
}

/** Who took a switch. */
export function takenBy(document: DocumentView, label: string): TakenView | undefined {
  const taken = document.campaign?.taken;
  return taken !== undefined && Object.hasOwn(taken, label) ? taken[label] : undefined;
}

/** How many switches have each status. */
export function counted(document: DocumentView): Map<Status, number> {
  const counts = new Map<Status, number>();
  for (const it of document.model?.switches ?? []) {
    const word = status(document, it);
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return counts;
}
