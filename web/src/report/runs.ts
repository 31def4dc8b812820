// All runs, to be filtered by verdict and text.

import { type Child, h } from "../shared/dom.js";
import { VirtualList } from "../shared/list.js";
import { duration } from "../shared/time.js";
import { badge } from "../shared/verdict.js";
import type { Outcome } from "../shared/words.js";
import { excerpt } from "../shared/visible.js";
import type { DocumentView, RunRow } from "./views.js";
import { choice, plural, to } from "./parts.js";

const WORDS: Record<Outcome, string> = {
  fail: "failed",
  error: "no verdict",
  inconclusive: "inconclusive",
  pass: "passed",
  interrupted: "interrupted",
};

export function runsPage({ campaign }: DocumentView): Child {
  if (campaign === null) return null;
  const all = campaign.runs.listed;
  let shown = all;
  let only: Outcome | "all" = "all";
  let text = "";
  const list = new VirtualList({
    label: "runs",
    rowHeight: 38,
    count: () => shown.length,
    row: (at) => row(shown[at] as RunRow),
    onOpen: (at) => (location.hash = to("run", shown[at]?.[0] ?? 1)),
    opensAtOnce: true,
  });
  const filter = (): void => {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    shown = all.filter(([number, outcome, , , goal, reason]) => {
      const told = `${number} ${goal} ${reason}`.toLowerCase();
      return (only === "all" || outcome === only) && words.every((word) => told.includes(word));
    });
    list.refresh();
    count.textContent = plural(shown.length, "run");
  };
  const count = h("span", { class: "soft", role: "status" }, plural(all.length, "run"));
  const outcomes = (Object.keys(WORDS) as Outcome[]).map((key) => ({
    key,
    n: all.filter((run) => run[1] === key).length,
  }));
  const chips = choice<Outcome | "all">(
    "by verdict",
    [
      { key: "all", text: `all ${all.length}` },
      ...outcomes.filter(({ n }) => n > 0).map(({ key, n }) => ({ key, text: `${WORDS[key]} ${n}` })),
    ],
    "all",
    (key) => {
      only = key;
      filter();
    },
  );
  const field = h("input", {
    type: "search",
    placeholder: "find by number, goal or reason",
    "aria-label": "find a run",
    oninput: (event: InputEvent) => {
      text = (event.target as HTMLInputElement).value;
      filter();
    },
  });
  const { unlisted } = campaign.runs;
  return h(
    "div",
    { class: "runs-page" },
    h("div", { class: "toolbar" }, chips, field, count),
    h("div", { class: "card list-card" }, list.element),
    unlisted > 0 && h("p", { class: "soft" }, `${plural(unlisted, "more run")} are in the record only.`),
    campaign.smaller_unkept > 0 &&
      h(
        "p",
        { class: "soft" },
        `${plural(campaign.smaller_unkept, "run")} that were made smaller are in the record only.`,
      ),
  );
}

function row([number, outcome, steps, time, goal, reason]: RunRow): HTMLElement {
  return h(
    "div",
    null,
    h("span", { class: "run-number" }, `run ${number}`),
    h("span", { class: "run-outcome" }, badge(outcome)),
    h("span", { class: "run-steps soft" }, plural(steps, "step")),
    h("span", { class: "run-time soft" }, time > 0 ? duration(time) : ""),
    h("span", { class: "run-why" }, excerpt([goal, outcome === "pass" ? "" : reason].filter(Boolean).join(": "), 240)),
  );
}
