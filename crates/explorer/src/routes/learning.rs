//! The routes of the page that shows learning. No request changes anything.

use std::time::Duration;

use super::{ICON, RouteReply, json_response};
use crate::http::{ExplorerRequest, ExplorerResponse, HttpMethod};
use crate::learning::LearningBoard;
use crate::server::ServedPage;

const PAGE: &str = include_str!("../../assets/learning.html");
const SCRIPT: &str = include_str!("../../assets/learning.js");
const STYLE: &str = include_str!("../../assets/learning.css");

/// The period after which the page gets the counters of resets and inputs. Chosen by feel: twice a second looks alive
/// and costs nothing.
const COUNTER_INTERVAL: Duration = Duration::from_millis(500);

impl ServedPage for LearningBoard {
    fn answer(&self, path: &str, request: &ExplorerRequest) -> RouteReply {
        let segments: Vec<&str> = path.split('/').collect();
        RouteReply::Whole(match (request.method, &segments[..]) {
            (HttpMethod::Get, [""]) => ExplorerResponse::ok("text/html; charset=utf-8", PAGE),
            (HttpMethod::Get, ["learning.js"]) => {
                ExplorerResponse::ok("text/javascript; charset=utf-8", SCRIPT)
            }
            (HttpMethod::Get, ["learning.css"]) => ExplorerResponse::ok("text/css; charset=utf-8", STYLE),
            (HttpMethod::Get, ["icon.svg"]) => ExplorerResponse::ok("image/svg+xml", ICON),
            (HttpMethod::Get, ["api", "learning"]) => json_response(&self.view()),
            (HttpMethod::Get, ["api", "learning", "picture"]) => json_response(&*self.current_picture()),
            (HttpMethod::Get, ["api", "learning", "events"]) => return RouteReply::Events,
            (HttpMethod::Post, ["api", ..]) => {
                ExplorerResponse::refusal(405, "use GET for this address: learning is only watched here")
            }
            _ => ExplorerResponse::refusal(404, "there is nothing here"),
        })
    }

    fn wait_for_update(
        &self,
        seen: Option<u64>,
        patience: Duration,
    ) -> Option<(u64, serde_json::Result<String>)> {
        let (version, view) = self.wait_for_change(seen, patience.min(COUNTER_INTERVAL), patience)?;
        Some((version, serde_json::to_string(&view)))
    }

    /// Does nothing: learning goes on, the page only watches.
    fn close(&self) {}
}
