//! Methods that the description does not list for a path: they must be refused.
//!
//! Services refuse them with 405 or 404, and some with other statuses of 4xx; `Allow` is there or not, and names all
//! methods or those of one route. So everything about the answer but that it refuses is learned from the service.

use super::check::ValueCondition;
use super::operation::{FieldOf, MissingHeader, RequestOperation};
use super::refusal::refusal_rule;
use super::resource::{path_fields, shape_of};
use super::rule::{ResourceRule, RuleMode};
use super::wrong::{WrongPart, WrongRequest};
use super::{BodyKind, DocumentedResponse, FieldLocation, Translator, doc_comment};
use crate::RuleWeight;
use crate::name;

/// The methods that are sent. Frameworks answer `HEAD` and `OPTIONS` by themselves, and `TRACE` is for proxies.
const METHODS: [&str; 5] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/// The case of `Owed` after which no request is sent, in learning.
pub(super) const RUN_OVER: &str = "run_is_over";

/// The answers to a method that is not documented, in learning; the first two are refusals.
const STATUSES: [&str; 5] = ["4xx", "3xx", "2xx", "501", "5xx"];

impl Translator<'_> {
    /// Adds a request with other methods for every path.
    pub(super) fn find_wrong_methods(&mut self) {
        // Also the methods of operations that are left out, and of paths that the same address fits.
        let documented: Vec<(String, String)> = self
            .document
            .operations()
            .operations
            .iter()
            .map(|operation| (shape_of(operation.path), operation.method.clone()))
            .collect();
        for at in 0..self.asked.len() {
            let path = self.operations[at].path;
            // One request for every path, not for every operation.
            if self.operations[..at].iter().any(|other| other.path == path) {
                continue;
            }
            let shape = shape_of(path);
            let own = documented.iter().filter(|(other, _)| may_overlap(other, &shape));
            let own: Vec<&str> = own.map(|(_, method)| method.as_str()).collect();
            let wrong: Vec<&str> = METHODS.into_iter().filter(|method| !own.contains(method)).collect();
            self.add_wrong_methods(at, &wrong);
        }
    }

    /// Returns the methods that the description lists for the path of an operation.
    fn documented_methods(&self, at: usize) -> Vec<String> {
        let path = self.operations[at].path;
        let all = self.document.operations().operations;
        let own = all.into_iter().filter(|operation| operation.path == path);
        own.map(|operation| operation.method).filter(|method| METHODS.contains(&method.as_str())).collect()
    }

    fn add_wrong_methods(&mut self, at: usize, methods: &[&str]) {
        let path = self.operations[at].path;
        let base = name::snake_case(&format!("other method on {path}"));
        let (mut declared, mut cases) = (Vec::new(), Vec::new());
        for method in methods {
            let rule = format!("{base}.{method}");
            let broken: Vec<&str> = ["accepted", "unimplemented", "error"]
                .into_iter()
                .filter(|end| self.rules.is_broken(&format!("{rule}.{end}")))
                .collect();
            if !broken.is_empty() {
                self.rules.loosened.push(method_about(method, path));
                continue;
            }
            let case = self.cases.fresh_name(&name::snake_case(&format!("{method} on {path}")));
            self.form.cases.push((case.clone(), format!("\"{method}\"")));
            self.wrong_rules.insert(case.clone(), rule);
            declared.push(case.clone());
            cases.push((case, (*method).to_owned()));
        }
        if cases.is_empty() {
            return;
        }
        let sort = self.types.fresh_name(&name::pascal_case(&base));
        self.declarations.push(format!(
            "{}enum {sort} {{ {} }}\n",
            doc_comment(&format!("Methods that are not documented for {path}.")),
            declared.join(", ")
        ));
        let mut fields: Vec<FieldOf> = path_fields(&self.asked[at]).into_iter().cloned().collect();
        // The path may have a parameter of this name.
        let is_taken = fields.iter().any(|field| field.name == "method");
        let field = if is_taken { "other_method" } else { "method" }.to_owned();
        fields.push(FieldOf {
            name: field.clone(),
            wire: "method".into(),
            place: FieldLocation::Method,
            sort: sort.clone(),
            check: ValueCondition::Anything,
        });
        let name = self.messages.fresh_name(&base);
        let request = RequestOperation {
            method: format!("{{{field}}}"),
            path: self.asked[at].path.clone(),
            fields,
            content: None,
            files: Vec::new(),
            accepts_json: false,
            answers: self.method_answers(&name, &base),
            wrong_credential: None,
            about: doc_comment(&format!(
                "A request that must be refused: a method that is not documented for {path}."
            )),
            name,
        };
        self.wrong_rules.insert(request.name.clone(), base);
        self.wrong.push(WrongRequest { of: at, request, sort, part: WrongPart::Method(field), cases });
    }

    /// Returns the answers to a request with another method: 405 with and without `Allow`, the rest by class.
    fn method_answers(&mut self, name: &str, base: &str) -> Vec<DocumentedResponse> {
        let is_learning = self.rules.mode == RuleMode::Learning;
        let mut answer = |status: &str, end: &str, has_allow: bool| DocumentedResponse {
            name: self.messages.fresh_name(&format!("{name}_{status}{end}")),
            status: status.to_owned(),
            kind: BodyKind::Unchecked,
            body: None,
            location: None,
            has_allow,
            headers: Vec::new(),
            lacks: None,
            is_seen: false,
            about: String::new(),
        };
        let mut answers = vec![answer("405", "", true)];
        let is_always_there = self.rules.has_support(&format!("{base}.allow"))
            && !self.rules.is_broken(&format!("{base}.header.Allow"));
        // Without the header, `allow` would have no value; a service that always sends it must go on doing so.
        if is_learning || !is_always_there {
            let lacks = MissingHeader { header: "Allow".into(), response: answers[0].name.clone() };
            answers.push(DocumentedResponse { lacks: Some(lacks), ..answer("405", "_headless", false) });
        }
        let statuses = if is_learning { &STATUSES[..] } else { &STATUSES[..2] };
        answers.extend(statuses.iter().map(|status| answer(status, "", false)));
        answers
    }

    /// Returns the answers to a request with another method.
    pub(super) fn method_refusals_text(&mut self, wrong_request: &WrongRequest) -> String {
        let path = self.operations[wrong_request.of].path;
        let base = self.wrong_rules.get(&wrong_request.request.name).cloned().unwrap_or_default();
        let mut text = String::new();
        for answer in &wrong_request.request.answers {
            let mut plan = self.refusal_plan(&wrong_request.request, wrong_request, answer);
            let is_learning = self.rules.mode == RuleMode::Learning;
            match answer.status.as_str() {
                "405" if answer.has_allow => plan.rules = self.allow_rules(wrong_request, &base),
                "405" if is_learning => {
                    let about = format!("a 405 for {path} has the header `Allow`");
                    let id = format!("{base}.header.Allow");
                    plan.rules = vec![refusal_rule(id, "false".into(), about, RuleWeight::Guess)];
                }
                "2xx" => {
                    // Methods other than `GET` may have changed anything: what comes after says nothing about rules.
                    let gets = wrong_request.cases.iter().filter(|(_, method)| method == "GET");
                    let harmless =
                        gets.map(|(case, _)| format!("{} == some({case})", wrong_request.variable())).next();
                    let harmless = harmless.unwrap_or_else(|| "false".into());
                    plan.updates = vec![format!("owed = if {harmless} then nothing else {RUN_OVER}")];
                    plan.rules = self.method_rules(wrong_request, "accepted", RuleWeight::Guess);
                }
                "501" => plan.rules = self.method_rules(wrong_request, "unimplemented", RuleWeight::Guess),
                "5xx" => plan.rules = self.method_rules(wrong_request, "error", RuleWeight::Contradiction),
                _ => (),
            }
            text.push_str(&self.rules.answer_text(&plan));
        }
        text
    }

    /// Returns the rules about the header `Allow`.
    fn allow_rules(&self, wrong_request: &WrongRequest, base: &str) -> Vec<ResourceRule> {
        let path = self.operations[wrong_request.of].path;
        // No plain constant: testers use those of a model as values.
        let names = |method: &String| format!("allow.matches(\"(.*[ ,])?{method}([ ,].*)?\")");
        let all: Vec<String> = self.documented_methods(wrong_request.of).iter().map(names).collect();
        let refused = wrong_request.cases.iter().map(|(case, method)| {
            format!("({} == some({case}) => !{})", wrong_request.variable(), names(method))
        });
        let refused: Vec<String> = refused.collect();
        let complete = (!all.is_empty()).then(|| {
            let about = format!("`Allow` of a 405 for {path} names every documented method");
            let rule = refusal_rule(format!("{base}.allow"), all.join(" && "), about, RuleWeight::Guess);
            ResourceRule { support: Some("true".into()), ..rule }
        });
        let about = format!("`Allow` of a 405 for {path} does not name the method that is refused");
        let own =
            refusal_rule(format!("{base}.refused"), refused.join(" && "), about, RuleWeight::Contradiction);
        complete.into_iter().chain([own]).collect()
    }

    /// Returns, for every method, the rule that it is refused.
    fn method_rules(&self, wrong_request: &WrongRequest, end: &str, weight: RuleWeight) -> Vec<ResourceRule> {
        let path = self.operations[wrong_request.of].path;
        let rule = |(case, method): &(String, String)| {
            let id = self.wrong_rules.get(case).map(|rule| format!("{rule}.{end}")).unwrap_or_default();
            let condition = format!("{} != some({case})", wrong_request.variable());
            refusal_rule(id, condition, method_about(method, path), weight)
        };
        wrong_request.cases.iter().map(rule).collect()
    }
}

/// Returns the rule for people.
fn method_about(method: &str, path: &str) -> String {
    format!("{method} {path}, which is not documented, is refused with 4xx")
}

/// Returns whether an address may fit two paths, by their shapes.
pub fn may_overlap(one: &str, other: &str) -> bool {
    let (one, other): (Vec<&str>, Vec<&str>) = (one.split('/').collect(), other.split('/').collect());
    let is_open = |step: &str| step.contains('{');
    one.len() == other.len() && one.iter().zip(&other).all(|(a, b)| a == b || is_open(a) || is_open(b))
}
