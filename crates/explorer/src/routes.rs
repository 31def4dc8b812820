//! The routes: paths and their answers. Paths are compared, never opened.

pub(crate) mod edit;
mod learning;
pub(crate) mod walk;

use std::time::Duration;

use ioxide_testgen::tester::spec::{TesterSpec, TesterSpecError};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::Explorer;
use crate::http::{ExplorerRequest, ExplorerResponse, HttpMethod};
use crate::live::CampaignRequest;
use crate::recording::RecordPlace;
use crate::view::run::{RecordsView, RunView};
use crate::view::{ErrorView, VERSION};

const PAGE: &str = include_str!("../assets/index.html");
const SCRIPT: &str = include_str!("../assets/explorer.js");
const STYLE: &str = include_str!("../assets/explorer.css");
const ICON: &str = include_str!("../assets/icon.svg");
const JSON: &str = "application/json";
/// The greatest number of runs a page may request. Chosen by feel: a slip of the finger must not start a campaign of
/// weeks.
const MAX_RUNS: u64 = 1_000_000;

/// The answer to a request.
pub enum RouteReply {
    /// A complete response.
    Whole(ExplorerResponse),
    /// A stream of the page's state, sent whenever it changes.
    Events,
}

/// Answers a request for `path`, which follows the token.
pub(crate) fn answer_route(explorer: &Explorer, path: &str, request: &ExplorerRequest) -> RouteReply {
    let segments: Vec<&str> = path.split('/').collect();
    RouteReply::Whole(match (request.method, &segments[..]) {
        (HttpMethod::Get, [""]) => ExplorerResponse::ok("text/html; charset=utf-8", PAGE),
        (HttpMethod::Get, ["explorer.js"]) => ExplorerResponse::ok("text/javascript; charset=utf-8", SCRIPT),
        (HttpMethod::Get, ["explorer.css"]) => ExplorerResponse::ok("text/css; charset=utf-8", STYLE),
        (HttpMethod::Get, ["icon.svg"]) => ExplorerResponse::ok("image/svg+xml", ICON),
        (HttpMethod::Get, ["api", "model"]) => json_response(&explorer.shown_model().view),
        (HttpMethod::Get, ["api", "records"]) => json_response(&RecordsView::new(&explorer.records.list())),
        (HttpMethod::Get, ["api", "run", record, run]) => recorded_run(explorer, record, run, request),
        (HttpMethod::Get, ["history", record]) => history_page(explorer, record),
        (HttpMethod::Get, ["api", "live"]) => json_response(&explorer.live.view()),
        (HttpMethod::Get, ["api", "live", "events"]) => return RouteReply::Events,
        (HttpMethod::Get, ["api", "sut"]) => json_response(&SutView::new(explorer)),
        (HttpMethod::Post, ["api", "walk"]) => with_body(request, |wanted| walk::walk_path(explorer, wanted)),
        (HttpMethod::Post, ["api", "values"]) => {
            with_body(request, |wanted| walk::example_values(explorer, wanted))
        }
        (HttpMethod::Post, ["api", "witness"]) => {
            with_body(request, |wanted| walk::path_witness(explorer, wanted))
        }
        (HttpMethod::Get, ["api", "source"]) => edit::show_source(explorer),
        (HttpMethod::Post, ["api", "source", "change"]) => {
            with_body(request, |wanted| edit::change_text(explorer, &wanted))
        }
        (HttpMethod::Post, ["api", "source", "save"]) => {
            with_body(request, |wanted| edit::save_text(explorer, &wanted))
        }
        (HttpMethod::Post, ["api", "source", "load"]) => {
            with_body(request, |wanted| edit::load_file(explorer, &wanted))
        }
        (HttpMethod::Post, ["api", "source", "repairs"]) => {
            with_body(request, |wanted| edit::find_repairs(explorer, &wanted))
        }
        (HttpMethod::Post, ["api", "live", act]) => {
            with_body(request, |wanted| control_campaign(explorer, act, &wanted))
        }
        (HttpMethod::Get, ["api", "walk" | "values" | "witness"] | ["api", "live" | "source", _]) => {
            ExplorerResponse::refusal(405, "use POST for this address")
        }
        _ => ExplorerResponse::refusal(404, "there is nothing here"),
    })
}

/// The system under test and the testers for it.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct SutView {
    version: u32,
    sut: Option<String>,
    testers: Vec<String>,
}

impl SutView {
    /// Makes the view of the system that the explorer was started with.
    fn new(explorer: &Explorer) -> Self {
        let testers = explorer.live.testers().iter().map(ToString::to_string).collect();
        Self { version: VERSION, sut: explorer.live.sut(), testers }
    }
}

/// Returns `view` as a JSON response.
fn json_response(view: &impl Serialize) -> ExplorerResponse {
    match serde_json::to_vec(view) {
        Ok(body) => ExplorerResponse::ok(JSON, body),
        Err(_) => ExplorerResponse::refusal(500, "the answer cannot be written"),
    }
}

/// Returns an error response whose reason the page shows.
fn error_response(status: u16, why: &str) -> ExplorerResponse {
    ExplorerResponse { status, ..json_response(&ErrorView::new(why)) }
}

/// Answers with the result of `act` on the JSON body; another media type, which foreign pages could send, is refused.
fn with_body<T: DeserializeOwned>(
    request: &ExplorerRequest,
    act: impl FnOnce(T) -> ExplorerResponse,
) -> ExplorerResponse {
    let kind = request.header("content-type").unwrap_or_default();
    if kind.split(';').next().map(str::trim) != Some(JSON) {
        return ExplorerResponse::refusal(415, "the body has to be JSON");
    }
    match ioxide_record::json::read(&request.body) {
        Ok(wanted) => act(wanted),
        Err(error) => error_response(400, &format!("the body is not as expected: {error}")),
    }
}

/// Returns the page of a history of concurrent clients.
fn history_page(explorer: &Explorer, record: &str) -> ExplorerResponse {
    match record.parse().ok().and_then(|record| explorer.records.get_page(record)) {
        Some(page) => ExplorerResponse::page(&*page),
        None => ExplorerResponse::refusal(404, "there is no such history"),
    }
}

fn recorded_run(explorer: &Explorer, record: &str, run: &str, request: &ExplorerRequest) -> ExplorerResponse {
    let place = match (record.parse(), run.parse()) {
        (Ok(record), Ok(run)) => RecordPlace { record, run },
        _ => return error_response(404, "a record and a run are numbers"),
    };
    let (from, count) =
        (request.number_param("from").unwrap_or(0), request.number_param("count").unwrap_or(200));
    match explorer.records.get_run(place) {
        Some(run) => json_response(&RunView::new(&run, place.run, from, count)),
        None => error_response(404, "there is no such run"),
    }
}

/// A request about a campaign; every field has a default.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct LiveQuery {
    tester: Option<String>,
    runs: Option<u64>,
    /// A text, since it may exceed the numbers of JavaScript; a number will do.
    seed: Option<serde_json::Value>,
    keep_going: bool,
    pace_ms: Option<u64>,
}

/// A seed that is not a number of 64 bits.
struct BadSeed;

fn parse_seed(told: &serde_json::Value) -> Result<u64, BadSeed> {
    let of_text = || told.as_str().and_then(|text| text.trim().parse().ok());
    told.as_u64().or_else(of_text).ok_or(BadSeed)
}

/// The reason why a page cannot have a tester.
#[derive(Debug, Error)]
enum TesterRefusal {
    #[error("{error}; {}", .error.help())]
    Unknown { error: TesterSpecError },
    #[error("`{0}` reads a file; start `ioxide explore` with `--tester {0}`")]
    File(TesterSpec),
}

/// Returns the tester that a page asks for, or the first that is offered. No path of a file comes from a page, so a
/// tester that reads one must have been given at the start.
fn choose_tester(explorer: &Explorer, text: Option<&str>) -> Result<TesterSpec, TesterRefusal> {
    let mut offered = explorer.live.testers();
    let Some(text) = text else {
        return Ok(if offered.is_empty() { TesterSpec::default() } else { offered.swap_remove(0) });
    };
    let tester: TesterSpec = text.parse().map_err(|error| TesterRefusal::Unknown { error })?;
    if tester.file().is_some() && !offered.contains(&tester) {
        return Err(TesterRefusal::File(tester));
    }
    Ok(tester)
}

fn control_campaign(explorer: &Explorer, act: &str, wanted: &LiveQuery) -> ExplorerResponse {
    let live = &explorer.live;
    if let Some(pace) = wanted.pace_ms {
        live.set_pace(Duration::from_millis(pace));
    }
    match act {
        "start" => {
            let tester = match choose_tester(explorer, wanted.tester.as_deref()) {
                Ok(tester) => tester,
                Err(why) => return error_response(400, &why.to_string()),
            };
            let runs = wanted.runs.map(|runs| runs.clamp(1, MAX_RUNS));
            let Ok(seed) = wanted.seed.as_ref().map(parse_seed).transpose() else {
                return error_response(400, "a seed is a whole number of at most 64 bits");
            };
            let wish = CampaignRequest { tester, runs, seed, keeps_going: wanted.keep_going };
            if let Err(why) = live.start(wish) {
                return error_response(409, why);
            }
        }
        "pause" => live.set_paused(true),
        "resume" => live.set_paused(false),
        "stop" => live.stop(),
        "pace" => (),
        _ => return ExplorerResponse::refusal(404, "there is nothing here"),
    }
    json_response(&live.view())
}
