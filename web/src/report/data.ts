// The document of a report, as Rust writes it (`crates/report/src/html`).

import type { Step } from "../shared/sequence.js";
import { STEP_KINDS } from "../shared/words.js";
import type { Outcome } from "../shared/words.js";

export interface Document {
  format: string;
  version: number;
  record: string;
  notes: string[];
  campaign: Campaign | null;
  model: Model | null;
  mutation: Mutation | null;
  suite: Suite | null;
}

export interface Campaign {
  figures: Figures;
  parts: PartFigures[];
  runs: {
    listed: RunRow[];
    unlisted: number;
    open: number[];
    details: Record<string, Details>;
    tapes: Record<string, TapeData>;
  };
  taken: Record<string, Taken>;
  latency: { label: string; classes: [number, number][] }[];
  smaller: [number, Smaller][];
  values: ValueCounts[];
}

/** What was taken of a part of a system: in some instance, and in each. */
export interface PartFigures {
  name: string;
  instances: number;
  total: number;
  some: number;
  each: number;
}

/** number, outcome, steps, time, goal, reason, kind of failure, whether there is a tape, seed */
export type RunRow = [number, Outcome, number, number, string, string, number | null, 0 | 1, string];

export interface Figures {
  verdict: string;
  is_finished: boolean;
  campaign: {
    model: string;
    file: string;
    set: string[];
    tester: string;
    sut: string;
    seed: number;
    runs: number;
    jobs: number;
    patience_ms: number;
    switches: number;
  } | null;
  runs: Record<"finished" | "passed" | "failed" | "inconclusive" | "errors" | "interrupted" | "cut", number>;
  steps: number;
  doubts: number;
  time_ns: number;
  failures: Failure[];
  failures_unlisted: number;
  errors: Reasons;
  inconclusive: Reasons;
  switches: { certain: string[]; possible: string[]; never: string[] };
  latencies: { label: string; n: number; p50_us: number; p99_us: number; max_us: number }[];
  suggested_patience_ms: number | null;
  measures: Measure[];
  history: { longest_run: number; extents: { variable: string; least: string; most: string }[]; new_pairs_per_million?: number } | null;
}

/** How much of data or history was covered. */
export interface Measure {
  measure: string;
  seen: number;
  total?: number;
  missing?: string[];
}

export interface Reasons {
  reasons: { reason: string; runs: number }[];
  others: number;
}

export interface Failure {
  signature: string;
  runs: number;
  first: number;
  steps: number;
  goal: string;
  last: string[];
  reason: string;
  explanation: Explanation | null;
  replayed: { reproduced: number; of: number } | null;
  shrunk: { steps: number; minimal: boolean; attempts: number } | null;
}

export interface Explanation {
  observed: string;
  allowed: { label: string; switch?: string }[];
  states: { location: string; values: string[]; path?: string[] }[];
  n_states: number;
  why_not: { state: number; switch: string; reason: string }[];
}

export interface Details {
  reason: string;
  explanation: Explanation | null;
  finding: { word: string; rule?: string; state: string; event: string; because?: string } | null;
  last_words: string;
}

export interface Taken {
  certain: number;
  possible: number;
  certain_passing: number;
  passing: RunList;
  failing: RunList;
  others: RunList;
}

export interface RunList {
  n: number;
  first: number[];
}

export interface Smaller {
  tape: TapeData;
  from: number;
  attempts: number;
  minimal: boolean;
  reproduced: number;
  of: number;
}

export interface ValueCounts {
  message: string;
  field: string;
  are_numbers: boolean;
  /** How many items collections had, or which cases came. */
  shape: { lengths: [string, number][] } | { cases: [string, number][] } | null;
  values: [string, number][];
  beyond: number;
}

export interface Model {
  name: string;
  doc: string;
  file: string;
  initial: string | null;
  is_timed: boolean;
  switches: Switch[];
  locations: { name: string; doc: string }[];
  gates: [string, string, string][];
}

export interface Switch {
  label: string;
  from: string;
  to: string;
  kind: string;
  message: string;
  guard: string[];
  range: string[];
  updates: string[];
  resets: string[];
  file: string | null;
  line: number | null;
  source: string;
  doc: string;
  reqs: string[];
  reach: "reached" | "never" | "open" | null;
  why: string | null;
}

export interface Mutation {
  model: string;
  suite: string;
  mutants: Mutant[];
  tests: { name: string; steps: string[]; kills: number[] }[];
}

export interface Mutant {
  id: string;
  operators: string;
  line: number;
  diff: string;
  outcome: "killed" | "equivalent" | "unknown" | "survived";
  reason: string;
  witness: string[];
}

export interface Suite {
  machine: string;
  method: string;
  promise: string;
  verdict: "pass" | "fail" | "unknown" | null;
  figures: [string, number][];
  tests: string[];
  unlisted: number;
  failures: string[];
}

/** kind, gate, text, fields, characters there were if some are missing, what was on the wire, the part it belongs to */
export type LabelData = [number, string, string, Record<string, unknown> | null, number | null, string | null, string | null];

export interface TapeData {
  before: number;
  labels: LabelData[];
  sets: string[][];
  label: number[];
  set: number[];
  belief: number[];
  time: number[] | null;
}

/** The steps of a run, read from their columns as they are asked for. */
export class Tape {
  readonly count: number;
  readonly before: number;
  readonly timed: boolean;
  /** The parts that messages belong to; `null` if that is not known of all, or there is only one. */
  readonly parts: string[] | null;
  private readonly times: Float64Array;

  constructor(private readonly data: TapeData) {
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
    const step = { kind: STEP_KINDS[kind] ?? "delay", gate: isMessage(kind) ? gate : "", text, time: this.times[index] ?? 0 };
    return part !== null && this.parts !== null ? { ...step, lane: part } : step;
  }

  label(index: number): LabelData {
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

function partsOf(labels: LabelData[]): string[] | null {
  const parts = labels.filter(([kind]) => isMessage(kind)).map(([, , , , , , part]) => part ?? null);
  const known = parts.filter((part) => part !== null);
  const names = [...new Set(known)].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  return known.length === parts.length && names.length > 1 ? names : null;
}

/** The document in this page. */
export function read(): Document {
  const text = document.getElementById("data")?.textContent ?? "null";
  return JSON.parse(text) as Document;
}
