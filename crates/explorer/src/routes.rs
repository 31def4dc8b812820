//! The routes: paths and their answers. Paths are compared, never opened.

mod learning;
pub(crate) mod walk;

use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::Explorer;
use crate::http::{ExplorerRequest, ExplorerResponse, HttpMethod};
use crate::live::{CampaignRequest, CampaignTester};
use crate::recording::RecordPlace;
use crate::view::run::{RecordsView, RunView};
use crate::view::{ErrorView, VERSION};

const PAGE: &str = include_str!("../assets/index.html");
const SCRIPT: &str = include_str!("../assets/explorer.js");
const STYLE: &str = include_str!("../assets/explorer.css");
const ICON: &str = include_str!("../assets/icon.svg");
const JSON: &str = "application/json";
/// The greatest number of runs a page may request.
const MAX_RUNS: u64 = 1_000_000;

/// The answer to a request.
pub enum RouteReply {
    /// A complete response.
    Whole(ExplorerResponse),
    /// A stream of the page's state, sent whenever it changes.
    Events,
}

/// Answers a request for `path`, which follows the token.
pub(crate) fn answer(explorer: &Explorer, path: &str, request: &ExplorerRequest) -> RouteReply {
    let segments: Vec<&str> = path.split('/').collect();
    RouteReply::Whole(match (request.method, &segments[..]) {
        (HttpMethod::Get, [""]) => ExplorerResponse::ok("text/html; charset=utf-8", PAGE),
        (HttpMethod::Get, ["explorer.js"]) => ExplorerResponse::ok("text/javascript; charset=utf-8", SCRIPT),
        (HttpMethod::Get, ["explorer.css"]) => ExplorerResponse::ok("text/css; charset=utf-8", STYLE),
        (HttpMethod::Get, ["icon.svg"]) => ExplorerResponse::ok("image/svg+xml", ICON),
        (HttpMethod::Get, ["api", "model"]) => json(&explorer.model),
        (HttpMethod::Get, ["api", "records"]) => json(&RecordsView::of(&explorer.records.list())),
        (HttpMethod::Get, ["api", "run", record, run]) => recorded(explorer, record, run, request),
        (HttpMethod::Get, ["api", "live"]) => json(&explorer.live.view()),
        (HttpMethod::Get, ["api", "live", "events"]) => return RouteReply::Events,
        (HttpMethod::Get, ["api", "sut"]) => json(&SutView::of(explorer)),
        (HttpMethod::Post, ["api", "walk"]) => with_body(request, |wanted| walk::walk(explorer, wanted)),
        (HttpMethod::Post, ["api", "values"]) => with_body(request, |wanted| walk::values(explorer, wanted)),
        (HttpMethod::Post, ["api", "witness"]) => {
            with_body(request, |wanted| walk::witness(explorer, wanted))
        }
        (HttpMethod::Post, ["api", "live", act]) => with_body(request, |wanted| live(explorer, act, &wanted)),
        (HttpMethod::Get, ["api", "walk" | "values" | "witness"]) | (HttpMethod::Get, ["api", "live", _]) => {
            ExplorerResponse::refused(405, "this is asked with POST")
        }
        _ => ExplorerResponse::refused(404, "there is nothing here"),
    })
}

/// The system under test and the testers for it.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct SutView {
    version: u32,
    sut: Option<String>,
    testers: Vec<&'static str>,
}

impl SutView {
    fn of(explorer: &Explorer) -> Self {
        let testers = CampaignTester::ALL.into_iter().map(CampaignTester::name).collect();
        Self { version: VERSION, sut: explorer.live.sut(), testers }
    }
}

/// Returns `view` as a JSON response.
fn json(view: &impl Serialize) -> ExplorerResponse {
    match serde_json::to_vec(view) {
        Ok(body) => ExplorerResponse::ok(JSON, body),
        Err(_) => ExplorerResponse::refused(500, "the answer cannot be written"),
    }
}

/// Returns an error response whose reason the page shows.
fn problem(status: u16, why: &str) -> ExplorerResponse {
    ExplorerResponse { status, ..json(&ErrorView::new(why)) }
}

/// Answers with the result of `act` on the JSON body; another media type, which foreign pages could send, is refused.
fn with_body<T: DeserializeOwned>(
    request: &ExplorerRequest,
    act: impl FnOnce(T) -> ExplorerResponse,
) -> ExplorerResponse {
    let kind = request.header("content-type").unwrap_or_default();
    if kind.split(';').next().map(str::trim) != Some(JSON) {
        return ExplorerResponse::refused(415, "the body has to be JSON");
    }
    match ioxide_runner::json::read(&request.body) {
        Ok(wanted) => act(wanted),
        Err(error) => problem(400, &format!("the body is not as expected: {error}")),
    }
}

fn recorded(explorer: &Explorer, record: &str, run: &str, request: &ExplorerRequest) -> ExplorerResponse {
    let place = match (record.parse(), run.parse()) {
        (Ok(record), Ok(run)) => RecordPlace { record, run },
        _ => return problem(404, "a record and a run are numbers"),
    };
    let (from, count) = (request.number("from").unwrap_or(0), request.number("count").unwrap_or(200));
    match explorer.records.run(place) {
        Some(run) => json(&RunView::of(&run, place.run, from, count)),
        None => problem(404, "there is no such run"),
    }
}

/// A request about a campaign; every field has a default.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct LiveWish {
    tester: Option<String>,
    runs: Option<u64>,
    /// A text, since it may exceed the numbers of JavaScript; a number will do.
    seed: Option<serde_json::Value>,
    keep_going: bool,
    pace_ms: Option<u64>,
}

/// A seed that is no number of 64 bits.
struct BadSeed;

fn seed(told: &serde_json::Value) -> Result<u64, BadSeed> {
    let of_text = || told.as_str().and_then(|text| text.trim().parse().ok());
    told.as_u64().or_else(of_text).ok_or(BadSeed)
}

fn live(explorer: &Explorer, act: &str, wanted: &LiveWish) -> ExplorerResponse {
    let live = &explorer.live;
    if let Some(pace) = wanted.pace_ms {
        live.pace(Duration::from_millis(pace));
    }
    match act {
        "start" => {
            let name = wanted.tester.as_deref().unwrap_or("cover");
            let Some(tester) = CampaignTester::ALL.into_iter().find(|tester| tester.name() == name) else {
                return problem(400, "there is no such tester");
            };
            let runs = wanted.runs.map(|runs| runs.clamp(1, MAX_RUNS));
            let Ok(seed) = wanted.seed.as_ref().map(seed).transpose() else {
                return problem(400, "a seed is a whole number of at most 64 bits");
            };
            let wish = CampaignRequest { tester, runs, seed, keeps_going: wanted.keep_going };
            if let Err(why) = live.start(wish) {
                return problem(409, why);
            }
        }
        "pause" => live.pause(true),
        "resume" => live.pause(false),
        "stop" => live.stop(),
        "pace" => (),
        _ => return ExplorerResponse::refused(404, "there is nothing here"),
    }
    json(&live.view())
}
