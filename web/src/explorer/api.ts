// What the server tells, and how it is asked. The shapes are those of `view.rs`.

export interface Model {
  name: string;
  file: string;
  doc: string;
  svg: string;
  timed: boolean;
  locations: { name: string; doc: string }[];
  switches: Switch[];
  gates: { name: string; kind: string; fields: Field[] }[];
}

export interface Switch {
  label: string;
  from: number;
  to: number;
  kind: string;
  message: string;
  guard: string[];
  updates: string[];
  doc: string;
  reqs: string[];
  line: number;
  source: string;
}

export interface Field {
  name: string;
  sort: string;
  form: "bool" | "int" | "real" | "string" | "enum" | "data";
  options: string[];
}

export interface Step {
  number: number;
  text: string;
  kind: string;
  switches: number[];
}

export interface State {
  location: number;
  values: [string, string][];
  path: string[];
  /** Where each part of a system is, and what it remembers; `values` is empty then. */
  parts: { name: string; place: string; values: [string, string][] }[];
}

export interface Choice {
  switch: number;
  gate: number;
  kind: string;
  message: string;
  when: string;
  fields: Field[];
  step: string | null;
  possible: "yes" | "unknown" | "no";
}

export interface Explanation {
  observed: string;
  allowed: { label: string; switch: string | null }[];
  n_states: number;
  why_not: { state: string; switch: string; reason: string }[];
}

export interface Walk {
  path: string[];
  base: { record: number; run: number; steps: number } | null;
  n_steps: number;
  steps: Step[];
  problem: { position: number; text: string; why: string } | null;
  forbidden: { position: number; step: string; explanation: Explanation } | null;
  belief: { kind: "concrete" | "symbolic" | "unspecified"; n: number; states: State[] };
  choices: Choice[];
  refused: { switch: number; why: string }[];
  silence: boolean;
  doubts: number;
  truncated: boolean;
}

export type Outcome = "pass" | "fail" | "inconclusive" | "error" | "interrupted";

export interface Brief {
  number: number;
  seed: number;
  goal: string;
  outcome: Outcome;
  steps: number;
}

export interface Recording {
  name: string;
  n_runs: number;
  cut: boolean;
  runs: Brief[];
}

export interface RecordedStep {
  kind: string;
  gate: string;
  text: string;
  switches: string[];
}

export interface Run extends Brief {
  from: number;
  list: RecordedStep[];
  reason: string;
  explanation: Explanation | null;
}

export interface Live {
  phase: "idle" | "running" | "paused" | "stopping" | "over";
  pace_ms: number;
  seen: string;
  steps: number;
  passed: number;
  failed: number;
  other: number;
  planned: number;
  seed: number;
  run: number;
  goal: string;
  last: { number: number; kind: string; gate: string; text: string; switches: string[] }[];
  failures: { record: number; run: number; steps: number; signature: string }[];
  message: string;
}

export interface Sut {
  sut: string | null;
  testers: string[];
}

/** Asks for something. */
export async function get<T>(path: string): Promise<T> {
  return answer(await fetch(`api/${path}`));
}

/** Asks for something that takes an argument, or has something done. */
export async function post<T>(path: string, body: unknown): Promise<T> {
  const headers = { "Content-Type": "application/json" };
  return answer(await fetch(`api/${path}`, { method: "POST", headers, body: JSON.stringify(body) }));
}

async function answer<T>(response: Response): Promise<T> {
  if (response.ok) return (await response.json()) as T;
  const text = await response.text();
  throw new Error(reason(text) ?? `the server refused: ${response.status}`);
}

function reason(text: string): string | undefined {
  try {
    return (JSON.parse(text) as { error?: string }).error;
  } catch {
    return text.trim() || undefined;
  }
}
