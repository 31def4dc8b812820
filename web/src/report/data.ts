// The document of a report, as Rust writes it (`views.ts`), and the steps of its runs.

import type { Step } from "../shared/sequence.js";
import { STEP_KINDS } from "../shared/words.js";
import type { DocumentView, LabelView, TapeView } from "./views.js";

/** The steps of a run, read from their columns as they are asked for. */
export class Tape {
  readonly count: number;
  readonly before: number;
  readonly timed: boolean;
  /** The parts that messages belong to; `null` if that is not known of all, or there is only one. */
  readonly parts: string[] | null;
  private readonly times: Float64Array;

  constructor(private readonly data: TapeView) {
    this.count = data.label.length;
    this.before = data.before;
    this.timed = data.time !== null;
    this.parts = partsOf(data.labels);
    this.times = new Float64Array(this.count);
    let now = 0;
    data.time?.forEach((delta, at) => {
      now += delta;
      this.times[at] = now;
    });
  }

  step(index: number): Step {
    const [kind, gate, text, , , , part] = this.label(index);
    const step = {
      kind: STEP_KINDS[kind] ?? "delay",
      gate: isMessage(kind) ? gate : "",
      text,
      time: this.times[index] ?? 0,
    };
    return part !== null && this.parts !== null ? { ...step, lane: part } : step;
  }

  label(index: number): LabelView {
    return this.data.labels[this.data.label[index] ?? 0] ?? [3, "", "", null, null, null, null];
  }

  switches(index: number): string[] {
    return this.data.sets[this.data.set[index] ?? 0] ?? [];
  }

  /** How many states the specification may be in after a step; `null` where it says nothing. */
  belief(index: number): number | null {
    const n = this.data.belief[index] ?? -1;
    return n < 0 ? null : n;
  }

  /** The lanes of a chart: the parts, or the gates. */
  lanes(): string[] {
    return this.parts ?? this.gates();
  }

  /** The gates, inputs first, in the order they were met. */
  gates(): string[] {
    const of = (kind: number): string[] =>
      this.data.labels.filter(([it]) => it === kind).map(([, gate]) => gate);
    return [...new Set([...of(0), ...of(4), ...of(1)])];
  }
}

/** Whether a kind of label is a message. */
function isMessage(kind: number): boolean {
  return kind < 2 || kind === 4;
}

function partsOf(labels: LabelView[]): string[] | null {
  const parts = labels.filter(([kind]) => isMessage(kind)).map(([, , , , , , part]) => part ?? null);
  const known = parts.filter((part) => part !== null);
  const names = [...new Set(known)].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  return known.length === parts.length && names.length > 1 ? names : null;
}

/** The document in this page. */
export function read(): DocumentView {
  const text = document.getElementById("data")?.textContent ?? "null";
  return JSON.parse(text) as DocumentView;
}
