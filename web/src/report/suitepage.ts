// A suite of a machine: what it promises, its tests, what they found.

import { type Child, h } from "../shared/dom.js";
import { GraphView } from "../shared/graph.js";
import { VirtualList } from "../shared/list.js";
import { excerpt } from "../shared/visible.js";
import type { DocumentView } from "./views.js";
import { picture } from "./modelpage.js";
import { card, facts, plural } from "./parts.js";

const SAID = {
  pass: { mark: "pass", sign: "✓", text: "passed" },
  fail: { mark: "fail", sign: "✗", text: "failed" },
  unknown: { mark: "inconclusive", sign: "?", text: "not known" },
};

export function suitePage({ suite }: DocumentView): Child {
  if (suite === null) return null;
  const said = suite.verdict === null ? { mark: "plain", sign: "≡", text: suite.method } : SAID[suite.verdict];
  const svg = picture();
  const list = new VirtualList({
    label: "tests",
    rowHeight: 28,
    count: () => suite.tests.length,
    row: (at) =>
      h("div", null, h("span", { class: "n soft" }, at + 1), h("code", null, excerpt(suite.tests[at] ?? "", 400))),
  });
  const failures = suite.failures.map((text) => h("li", null, h("code", null, excerpt(text, 600))));
  return h(
    "div",
    { class: "suite-page" },
    h(
      "section",
      { class: `verdict ${said.mark}`, "aria-label": "verdict" },
      h("span", { class: "sign", "aria-hidden": "true" }, said.sign),
      h("div", null, h("h1", null, `${suite.machine}: ${said.text}`), h("p", null, suite.promise)),
    ),
    failures.length > 0 && card("Replies that are not allowed", h("ul", null, failures)),
    h(
      "div",
      { class: "pair" },
      card(
        "Figures",
        facts([
          ["method", suite.method],
          ...suite.figures.map(([name, n]): [string, Child] => [name, n.toLocaleString("en")]),
        ]),
      ),
      svg && h("div", { class: "card graph-card" }, new GraphView(svg).element),
    ),
    suite.tests.length > 0 &&
      h(
        "section",
        { class: "card list-card tests" },
        h("h2", null, plural(suite.tests.length + suite.unlisted, "test")),
        list.element,
        suite.unlisted > 0 &&
          h("p", { class: "soft" }, `${suite.unlisted.toLocaleString("en")} are in the suite file only.`),
      ),
  );
}
