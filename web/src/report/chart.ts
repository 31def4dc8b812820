// The chart of a run, with any of its steps in detail.

import { type Child, fill, h } from "../shared/dom.js";
import { long } from "../shared/long.js";
import { Sequence, type Step } from "../shared/sequence.js";
import { duration } from "../shared/time.js";
import { bytes } from "./bytes.js";
import type { Tape } from "./data.js";
import { facts, plural, switchLink } from "./parts.js";
import type { DocumentView, Explanation } from "./views.js";

/** Expected messages drawn under a forbidden step. */
const MAX_EXPECTED = 4;

/** The chart of a run; `forbidden` is the number of its forbidden step, the last one if undefined, none if null. */
export function chart(
  document: DocumentView,
  tape: Tape,
  forbidden: number | null | undefined,
  explanation: Explanation | null,
  step: number | undefined,
): HTMLElement {
  const bad = forbidden === null ? -1 : (forbidden ?? tape.before + tape.count) - 1 - tape.before;
  const detail = h("aside", { class: "card step-detail", "aria-live": "polite", "aria-label": "the step" });
  const allowed = bad >= 0 ? (explanation?.allowed ?? []).slice(0, MAX_EXPECTED) : [];
  const lanes = tape.lanes();
  const expected = (at: number): Step => {
    const text = allowed[at]?.label ?? "";
    const gate = /^[!?]?([^\s(]+)/.exec(text)?.[1] ?? "";
    const part = partOf(allowed[at]?.switch ?? "");
    const lane = tape.parts === null ? gate : part;
    const known = lanes.includes(lane);
    return {
      kind: known ? "output" : "quiescence",
      gate: known ? gate : "",
      lane,
      text,
      class: "expected",
      note: "expected",
      mark: "",
    };
  };
  const step_at = (at: number): Step => {
    if (at >= tape.count) return { ...expected(at - tape.count), time: tape.step(tape.count - 1).time ?? 0 };
    const it = tape.step(at);
    return at === bad ? { ...it, class: "bad", note: "got" } : it;
  };
  const sequence = new Sequence({
    label: "steps of the run",
    count: tape.count,
    tail: allowed.length,
    step: step_at,
    // Only for rows in sight: writing a number so takes 20 µs, which of 100,000 steps are two seconds.
    mark: (at) => (tape.before + at + 1).toLocaleString("en"),
    lanes,
    timed: tape.timed,
    onSelect: (at) =>
      fill(
        detail,
        at < tape.count
          ? stepDetail(document, tape, at)
          : h("p", null, `What the model allowed instead of step ${tape.before + bad + 1}.`),
      ),
  });
  const first = step === undefined ? Math.max(0, bad) : step - 1 - tape.before;
  requestAnimationFrame(() => sequence.list.select(Math.max(0, Math.min(first, tape.count - 1))));
  const rows = Math.min(14, tape.count + allowed.length);
  const box = h(
    "div",
    { class: "card sequence-card" },
    tape.before > 0 &&
      h("p", { class: "soft" }, `${plural(tape.before, "step")} before these are in the record only.`),
    sequence.element,
  );
  box.style.height = `${Math.max(280, 30 * rows + 130)}px`;
  return h("div", { class: "chart" }, box, detail);
}

/** The part that takes a switch of a system first. */
function partOf(label: string): string {
  const first = label.split("+")[0] ?? "";
  return first.slice(0, Math.max(0, first.lastIndexOf(".")));
}

function stepDetail(document: DocumentView, tape: Tape, at: number): Child {
  const [, gate, text, args, of, raw] = tape.label(at);
  const step = tape.step(at);
  const switches = tape.switches(at);
  const known = new Set(document.model?.switches.map((it) => it.label));
  const belief = tape.belief(at);
  const wire = gate === "" ? null : JSON.stringify({ label: gate, args: args ?? {} });
  return [
    h("h2", null, `Step ${(tape.before + at + 1).toLocaleString("en")}`),
    long(text, "the label"),
    of !== null && h("p", { class: "soft" }, `cut: it has ${of.toLocaleString("en")} characters`),
    facts([
      [
        "who",
        {
          input: "the tester, an input",
          output: "the system, an output",
          quiescence: "nobody: silence",
          delay: "nobody: time passed",
          observed: "another client, an input that the tester observed",
          breakdown: "the system: it broke down",
        }[step.kind],
      ],
      ["time", tape.timed ? duration(step.time ?? 0) : null],
      ["transitions", switches.length > 0 ? switches.map((it) => [known.has(it) ? switchLink(it) : it, " "]) : null],
      ["possible states after it", belief === null ? null : plural(belief, "state")],
    ]),
    wire !== null && [h("h3", null, "Message"), long(wire, "the message as JSON")],
    raw !== null && [h("h3", null, "On the wire"), long(raw, "the message on the wire")],
    wire !== null && bytes(raw ?? text),
  ];
}
