// Written by a test from the structs of Rust (`UPDATE_TYPES=1 cargo test typescript`): do not edit.

import type { Outcome } from "../shared/words.js";

/** Something the specification allowed. */
export type Allowed = {
/** The message, with values or the condition on them; `δ` for silence. */
label: string,
/** The switch; absent for silence. */
switch?: string, };

/** A campaign as the page has it. */
export type CampaignView = { figures: FiguresJson,
/** The seed with all its digits. */
seed: string, runs: RunsView,
/** What was taken, by switch. */
taken: { [key in string]: TakenView }, latency: Array<LatencyView>,
/** The smaller runs, by the number of the run each was made from. */
smaller: Array<[number, SmallerView]>,
/** How often each value was sent, by field. */
values: Array<SentView>, parts: Array<PartFamily>, };

/** The document the page shows. */
export type DocumentView = { format: string, version: number, record: string, notes: Array<string>, campaign: CampaignView | null, model: ModelShown | null, mutation: MutationPage | null, suite: SuiteTold | null, };

/** Observed against allowed, and why not. */
export type Explanation = {
/** The label that was observed. */
observed: string,
/** The labels that were allowed instead, each with the switch that allows it. */
allowed: Array<Allowed>,
/** The states the specification may have been in, the first ones if there are many. */
states: Array<StateTold>,
/** The number of states. */
n_states: number,
/** For every switch that could have matched, what stood against it. */
why_not: Array<WhyNot>,
/** In how many orders of what was under way it was tried, if in more than one; all else is told of the first. */
orders?: number, };

/** How far a variable went: a number, or the size of a collection. */
export type ExtentTold = {
/** Its name. */
variable: string,
/** The least. */
least: string,
/** The greatest. */
most: string, };

/** Failures of one kind. Runs count from 1 here, as they do for people and for `replay --number`. */
export type FailureJson = { signature: string, runs: number, first: number, seed: number, goal: string, steps: number, last: Array<string>, reason: string, explanation: Explanation | null, replayed: ReplayedJson | null, shrunk: ShrunkJson | null, };

/** The figures of a campaign. */
export type FiguresJson = { version: number, verdict: string, is_finished: boolean, campaign: StartJson | null, runs: RunCountsJson, steps: number, doubts: number, time_ns: number, failures: Array<FailureJson>, failures_unlisted: number, errors: ReasonsJson, inconclusive: ReasonsJson, switches: SwitchesJson, values: Array<ValueRowJson>, values_full: boolean, latencies: Array<LatencyTold>, suggested_patience_ms: number | null, measures: Array<MeasureTold>, history: HistoryTold | null, };

/** The end of a timed run in the words of its method ([BLLN23]). */
export type FindingTold = {
/** `PASS`, `FAIL_out`, `FAIL_dur`, `INC_out`, `INC_dur`, `INC_ucIn_spec`, `INC_ucIn_uspec` or `INC_off_path`. */
word: string,
/** The rule of the test case that says so; empty without a test case. */
rule?: string,
/** The state of the test case; without one, where the specification was. */
state: string,
/** What happened there, and after how long. */
event: string,
/** The part of a guard that does not hold, or the guard of the arc that was taken. */
because?: string, };

export type FrequentJson = { value: string, sent: number, };

/** How far runs went. */
export type HistoryTold = {
/** Labels of the longest run. */
longest_run: number,
/** How far variables went. */
extents?: Array<ExtentTold>,
/** How often a pair of switches not seen yet would come in a million, if runs went on as they did; only where there are
 * enough of them. */
new_pairs_per_million?: number, };

export type InsteadJson = { outcome: Outcome, steps: Array<string>, };

/** A label: the code of its kind, gate, text, fields, characters there were if some are missing, what was on the wire, the part it
 * belongs to. */
export type LabelView = [number, string, string, Record<string, unknown> | null, number | null, string | null, string | null];

/** How long the system took to say something. */
export type LatencyTold = {
/** The message. */
label: string,
/** The number of times that it was observed. */
n: number,
/** Half of the times are no longer, in microseconds. */
p50_us: number,
/** 99 of 100 are no longer. */
p99_us: number,
/** The longest. */
max_us: number, };

/** How long a message took. */
export type LatencyView = { label: string,
/** The time a class begins with, in nanoseconds, and how many answers it has. */
classes: Array<[number, number]>, };

export type LocationShown = { name: string, doc: string, };

/** How much of a measure was covered. */
export type MeasureTold = {
/** `switches`, `pairs`, `comparisons`, `values` or `equalities`. */
measure: string,
/** What was seen. */
seen: number,
/** What there is, as far as guards alone tell; absent where it is too much to be enumerated. */
total?: number,
/** The first of what was not seen though no guard excludes it. */
missing?: Array<string>, };

/** A model as the page has it. */
export type ModelShown = { name: string, doc: string, file: string, initial: string | null, is_timed: boolean, switches: Array<SwitchShown>, locations: Array<LocationShown>,
/** The name of a message, its kind, and what is written about it. */
gates: Array<[string, string, string]>, };

/** What became of a mutant. */
export type MutantFate = "killed" | "equivalent" | "unknown" | "survived";

/** A mutant and what became of it. */
export type MutantRow = {
/** Its name. */
id: string,
/** The operators that made it. */
operators: string,
/** The line it changes; 0 if it has none. */
line: number,
/** The switches before and after. */
diff: string,
/** What became of it. */
outcome: MutantFate,
/** Why it is equivalent or unknown. */
reason: string,
/** A trace that tells it apart: for a survivor, the one the suite needs. */
witness: Array<string>, };

/** What became of the mutants of a model. */
export type MutationPage = {
/** The model. */
model: string,
/** The suite or tester that was measured; empty if the suite was made from the mutants themselves. */
suite: string,
/** The mutants. */
mutants: Array<MutantRow>,
/** The tests. */
tests: Array<TestRow>, };

/** The instances of one part. */
export type PartFamily = {
/** The name of the part. */
name: string,
/** How many instances there are. */
instances: number,
/** How many switches of it can be seen. */
total: number,
/** How many were certainly taken in some instance. */
some: number,
/** How many were certainly taken in each. */
each: number, };

export type ReachWord = "reached" | "never" | "open";

export type ReasonJson = { reason: string, runs: number, };

/** Why runs came to no verdict, the most frequent reasons. */
export type ReasonsJson = { reasons: Array<ReasonJson>, others: number, };

/** How often it failed again and, if it never did, what was seen instead. */
export type ReplayedJson = { reproduced: number, of: number, instead?: InsteadJson, };

/** Runs by how they ended. */
export type RunCountsJson = { finished: number, passed: number, failed: number, inconclusive: number, errors: number, interrupted: number,
/** Begun and not ended. */
cut: number, };

/** Runs: how many, and the first of them, from 1. */
export type RunListView = { n: number, first: Array<number>, };

/** A run in the list: its number, how it ended, steps, nanoseconds, goal, reason, the position of its kind of failure, 1 if there is
 * a tape, the seed. */
export type RunRow = [number, Outcome, number, number, string, string, number | null, number, string];

/** The runs of a campaign as the page has them; they count from 1. */
export type RunsView = { columns: Array<string>, listed: Array<RunRow>, unlisted: number,
/** Runs that were begun and not ended. */
open: Array<number>, details: { [key in number]: TroubleView }, tapes: { [key in number]: TapeView }, };

/** How often the values of a field were sent. */
export type SentView = { message: string, field: string, are_numbers: boolean, shape: ShapeJson | null, values: Array<[string, number]>, beyond: number, };

/** How many items the values of a field had, or which cases they were. */
export type ShapeJson = { least: number, most: number, lengths: Array<[string, number]>, } | { cases: Array<[string, number]>, };

/** The smallest run that fails alike. */
export type ShrunkJson = { steps: number, last: Array<string>, minimal: boolean, ended_early: string | null, attempts: number, };

/** A failing run that was made smaller. */
export type SmallerView = { tape: TapeView, from: number, attempts: number, minimal: boolean, reproduced: number, of: number, };

/** What was tested, and how. */
export type StartJson = { model: string, file: string, set: Array<string>, tester: string, sut: string, seed: number, runs: number, jobs: number, patience_ms: number,
/** How many switches the model has. */
switches: number, };

/** A state the specification may have been in. */
export type StateTold = {
/** Its location. */
location: string,
/** Its variables as `name = value`. */
values: Array<string>,
/** What is known of unknown values. */
path?: Array<string>, };

/** What is told of a suite. */
export type SuiteTold = {
/** The machine. */
machine: string,
/** How the tests were made. */
method: string,
/** What passing all of them proves, in words. */
promise: string,
/** What they say, if they were carried out. */
verdict: SuiteVerdict | null,
/** Figures by name, in order. */
figures: Array<[string, number]>,
/** The tests, the first [`MAX_TESTS`]. */
tests: Array<string>,
/** Tests that are not listed. */
unlisted: number,
/** What was seen and is not allowed. */
failures: Array<string>, };

/** What the tests of a suite say of a system. */
export type SuiteVerdict = "pass" | "fail" | "unknown";

/** A switch with its source. */
export type SwitchShown = { label: string, from: string, to: string, kind: string, message: string, guard: Array<string>, range: Array<string>, updates: Array<string>, resets: Array<string>, file: string | null, line: number | null, source: string, doc: string, reqs: Array<string>, reach: ReachWord | null,
/** Why nothing takes it, or why that is not known. */
why: string | null, };

/** Switches by whether they were taken. */
export type SwitchesJson = { certain: Array<string>, possible: Array<string>, never: Array<string>, };

/** How often a switch was taken, and by which runs. */
export type TakenView = { certain: number, possible: number,
/** Runs that certainly took it and passed. */
certain_passing: number, passing: RunListView, failing: RunListView, others: RunListView, };

/** The steps of a run as the page has them: what is said twice stands once, steps are columns of positions. */
export type TapeView = {
/** Steps that are not told. */
before: number, labels: Array<LabelView>, sets: Array<Array<string>>, label: Array<number>, set: Array<number>,
/** States the specification may have been in; -1 where it says nothing. */
belief: Array<number>,
/** Nanoseconds since the step before, if there are times. */
time: Array<number> | null, };

/** A test and what it kills. */
export type TestRow = {
/** Its name. */
name: string,
/** Its labels; empty for a tester. */
steps: Array<string>,
/** The mutants it kills, by position. */
kills: Array<number>, };

/** Why a run failed or had trouble. */
export type TroubleView = { reason: string, explanation: Explanation | null, finding: FindingTold | null, last_words: string, };

/** The values of a field that were sent. */
export type ValueRowJson = { message: string, field: string | null, sent: number, distinct: number, is_more: boolean, min: string | null, max: string | null, frequent: Array<FrequentJson>, shape?: ShapeJson, };

/** What stood against a switch. */
export type WhyNot = {
/** The state, by position in [`Explanation::states`]. */
state: number,
/** The switch. */
switch: string,
/** The reason, with the values that count. */
reason: string, };
