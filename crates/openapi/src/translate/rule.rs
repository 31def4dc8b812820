//! Rules that a description suggests and does not state: each can be observed to be broken before it is kept.
//!
//! A model for learning has, for every rule of an answer, one more transition that is taken just when the rule does not
//! hold. So one campaign shows every rule that the service does not follow, and nothing it does is a failure.

use std::collections::{BTreeMap, BTreeSet};

use super::compare::LENGTH;
use crate::{ObservableTransition, ObservedFact, RuleTopic, RuleWeight, StateRules};

/// The statuses that a service may answer with although its description does not list them. Those of 4xx that say
/// something about the request are allowed once they were seen; those of 5xx are seen only, so that learning goes on.
const CANDIDATE_STATUSES: [&str; 20] = [
    "400", "401", "402", "403", "404", "405", "406", "409", "410", "412", "413", "415", "422", "423", "428",
    "429", "500", "501", "502", "503",
];

/// The purpose of a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum RuleMode {
    /// Any documented answer in any state.
    #[default]
    Stateless,
    /// Every rule can be observed to be broken.
    Learning,
    /// The rules that were not broken are required.
    Learned,
}

/// A rule about an answer.
#[derive(Clone, Debug)]
pub(crate) struct ResourceRule {
    /// Names the rule; the same rule may hold for several answers.
    pub(crate) id: String,
    /// The condition under which it holds.
    pub(crate) condition: String,
    /// The rule for people, as a sentence without its end.
    pub(crate) about: String,
    pub(crate) weight: RuleWeight,
    pub(crate) topic: RuleTopic,
    /// The condition under which an answer speaks for the rule, if the rule is kept only if answers did: one that the
    /// description does not suggest would hold by chance as long as nothing contradicts it.
    pub(crate) support: Option<String>,
}

/// An answer with its rules.
#[derive(Clone, Debug, Default)]
pub(crate) struct AnswerPlan {
    pub(crate) label: String,
    pub(crate) gate: String,
    /// The conditions that are no rules: the open request, and what the schema says.
    pub(crate) base: Vec<String>,
    pub(crate) rules: Vec<ResourceRule>,
    pub(crate) updates: Vec<String>,
    /// The origin of the rules, for people.
    pub(crate) origin: Vec<String>,
}

/// The rules of a model, and what is known about them.
#[derive(Clone, Debug, Default)]
pub(crate) struct RuleBook {
    pub(crate) mode: RuleMode,
    /// True if every run begins with a service that was just started.
    pub(crate) is_restarted: bool,
    broken: BTreeSet<String>,
    supported: BTreeSet<String>,
    unseen: BTreeSet<String>,
    statuses: BTreeMap<String, Vec<String>>,
    pub(crate) observables: Vec<ObservableTransition>,
    /// The rules that are not required, for people.
    pub(crate) loosened: Vec<String>,
    /// The variables that nothing reads.
    unread: BTreeSet<String>,
}

impl RuleBook {
    /// Makes the rules of a model; `is_restarted` says whether every run begins with a service that was just started.
    pub(crate) fn new(rules: &StateRules, is_restarted: bool) -> Self {
        match rules {
            StateRules::Stateless => Self::default(),
            StateRules::Learning => Self { mode: RuleMode::Learning, is_restarted, ..Self::default() },
            StateRules::Learned(observed) => {
                let mut statuses: BTreeMap<String, Vec<String>> = BTreeMap::new();
                for (operation, status) in &observed.statuses {
                    statuses.entry(operation.clone()).or_default().push(status.clone());
                }
                Self {
                    mode: RuleMode::Learned,
                    is_restarted,
                    broken: observed.broken.clone(),
                    supported: observed.supported.clone(),
                    unseen: observed.unseen.clone(),
                    statuses,
                    ..Self::default()
                }
            }
        }
    }

    /// Returns the rules without the variables that nothing reads.
    pub(crate) fn without_variables(self, unread: BTreeSet<String>) -> Self {
        Self { unread, ..self }
    }

    /// Returns the statuses that an operation may answer with although they are not documented.
    pub(crate) fn statuses_of(&self, operation: &str) -> Vec<String> {
        match self.mode {
            RuleMode::Stateless => Vec::new(),
            RuleMode::Learning => CANDIDATE_STATUSES.map(str::to_owned).to_vec(),
            RuleMode::Learned => self.statuses.get(operation).cloned().unwrap_or_default(),
        }
    }

    /// Returns whether the service was seen to break a rule.
    pub(crate) fn is_broken(&self, rule: &str) -> bool {
        self.broken.contains(rule)
    }

    /// Returns whether a rule is not in the model: the service was seen to break it, or too seldom asked about it.
    pub(crate) fn is_left_out(&self, rule: &str) -> bool {
        self.is_broken(rule) || self.unseen.contains(rule)
    }

    /// Returns whether the service was seen to follow a rule.
    pub(crate) fn has_support(&self, rule: &str) -> bool {
        self.supported.contains(rule)
    }

    /// Returns whether a rule that needs support is in the model.
    pub(crate) fn is_kept(&self, rule: &str) -> bool {
        self.mode == RuleMode::Learning || self.has_support(rule) && !self.is_broken(rule)
    }

    /// Adds an answer that is not documented; it is observed by its transition.
    pub(crate) fn observe_status(&mut self, transition: &str, operation: (&str, &str), status: &str) {
        let (operation, method) = operation;
        let fact = ObservedFact::Status {
            operation: operation.to_owned(),
            status: status.to_owned(),
            about: format!("{method} answers {status}, which is not documented"),
        };
        self.observables.push(ObservableTransition { transition: transition.to_owned(), answer: None, fact });
    }

    /// Returns the transitions of an answer.
    pub(crate) fn answer_text(&mut self, plan: &AnswerPlan) -> String {
        match self.mode {
            RuleMode::Learning => self.learning_text(plan),
            RuleMode::Stateless | RuleMode::Learned => self.required_text(plan),
        }
    }

    /// One transition for an answer that follows all rules, and one for each rule that is broken.
    fn learning_text(&mut self, plan: &AnswerPlan) -> String {
        let all = plan.rules.iter().map(|rule| rule.condition.clone());
        let mut text = self.transition_text(plan, &plan.label, all);
        for (at, rule) in plan.rules.iter().enumerate() {
            let label = format!("{}_breaks_{}", plan.label, at + 1);
            text.push_str(&self.transition_text(
                plan,
                &label,
                // Only this rule is denied and no other demanded, so one answer may show that several are broken.
                std::iter::once(format!("!({})", rule.condition)),
            ));
            let fact = ObservedFact::Broken {
                rule: rule.id.clone(),
                about: with_articles(&rule.about),
                weight: rule.weight,
                topic: rule.topic,
            };
            self.observables.push(ObservableTransition {
                transition: label,
                answer: Some(plan.label.clone()),
                fact,
            });
            let Some(support) = &rule.support else { continue };
            let label = format!("{}_supports_{}", plan.label, at + 1);
            // An answer speaks for a rule if it follows it where it could have been otherwise.
            let both = [support.clone(), rule.condition.clone()];
            text.push_str(&self.transition_text(plan, &label, both.into_iter()));
            let fact = ObservedFact::Supported { rule: rule.id.clone() };
            self.observables.push(ObservableTransition {
                transition: label,
                answer: Some(plan.label.clone()),
                fact,
            });
        }
        text
    }

    /// Returns whether answers spoke for a rule, if it needs that.
    fn is_supported(&self, rule: &ResourceRule) -> bool {
        match rule.support {
            // A guess is kept only with support. A rule that the description suggests is kept unless nobody asked
            // about it.
            Some(_) => self.has_support(&rule.id),
            None => !self.unseen.contains(&rule.id) || self.is_broken(&rule.id),
        }
    }

    /// The transition of an answer that follows the rules which the service was not seen to break.
    fn required_text(&mut self, plan: &AnswerPlan) -> String {
        let mut text = String::new();
        let mut said = BTreeSet::new();
        let (broken, kept): (Vec<&ResourceRule>, Vec<&ResourceRule>) = plan
            .rules
            .iter()
            .filter(|rule| self.is_supported(rule))
            .partition(|rule| self.is_broken(&rule.id));
        for line in plan.origin.iter().filter(|_| !kept.is_empty() || !plan.updates.is_empty()) {
            text.push_str(&super::doc_comment(&with_articles(line)));
        }
        for rule in broken.iter().filter(|rule| said.insert(rule.about.clone())) {
            let about = with_articles(&rule.about);
            text.push_str(&super::doc_comment(&format!("Not checked, the service differs: {about}.")));
            self.loosened.push(about);
        }
        let mut seen = BTreeSet::new();
        // Field rules share one function, and so one condition.
        let conditions = kept.iter().filter(|rule| seen.insert(rule.condition.clone()));
        text + &self.transition_text(plan, &plan.label, conditions.map(|rule| rule.condition.clone()))
    }

    fn transition_text(
        &self,
        plan: &AnswerPlan,
        label: &str,
        conditions: impl Iterator<Item = String>,
    ) -> String {
        let guard: Vec<String> = plan.base.iter().cloned().chain(conditions).collect();
        let updates = self.read_updates(&plan.updates);
        format!("{label}: emit {} when {} {{ {} }}\n", plan.gate, guard.join(" && "), updates.join(", "))
    }

    /// Returns whether nothing reads a variable.
    pub(crate) fn is_unread(&self, variable: &str) -> bool {
        self.unread.contains(variable)
    }

    /// Returns the updates of variables that something reads.
    pub(crate) fn read_updates(&self, updates: &[String]) -> Vec<String> {
        let is_read = |update: &&String| {
            let target = update.split([' ', '[']).next().unwrap_or_default();
            !self.unread.contains(target)
        };
        updates.iter().filter(is_read).cloned().collect()
    }
}

/// Returns the names that a text of transitions reads: all but those that are only assigned, also if the new value is
/// made of the old one (`keys = keys.with(key)`).
pub(crate) fn names_read(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    for line in text.lines().filter(|line| !line.trim_start().starts_with("//")) {
        let (mut rest, mut target) = (line, "");
        while let Some(start) = rest.find(is_part) {
            let after = &rest[start..];
            let end = after.find(|c: char| !is_part(c)).unwrap_or(after.len());
            let (word, tail) = after.split_at(end);
            rest = tail;
            // From here on in this line the name may stand on the right side too, which does not read it for
            // anything else.
            if is_assigned(tail) {
                target = word;
            } else if word != target {
                found.insert(word.to_owned());
            }
        }
    }
    found
}

/// Returns whether the text after a name assigns to it: ` = ` or `[KEY] = `.
fn is_assigned(tail: &str) -> bool {
    let after_key = tail.strip_prefix('[').and_then(|inner| {
        let mut depth = 1;
        let end = inner.find(|c: char| {
            // The key may itself be looked up in a map.
            depth += i32::from(c == '[') - i32::from(c == ']');
            depth == 0
        })?;
        inner.get(end + 1..)
    });
    after_key.unwrap_or(tail).starts_with(" = ")
}

/// Returns a sentence with `an` before vowels: the names of resources are put in after `a`.
fn with_articles(text: &str) -> String {
    ["a", "e", "i", "o"].iter().fold(text.to_owned(), |text, vowel| {
        text.replace(&format!(" a {vowel}"), &format!(" an {vowel}"))
            .replace(&format!("A {vowel}"), &format!("An {vowel}"))
    })
}

/// A rule for each of several fields of a record: one function in the final model, one for each field in learning.
#[derive(Clone, Debug)]
pub(crate) struct FieldRules {
    /// The name of the function.
    pub(crate) function: String,
    /// Its parameters with their types.
    pub(crate) parameters: Vec<(&'static str, String)>,
    /// The fields, with the conditions on the parameters.
    pub(crate) fields: Vec<(String, String)>,
    /// The rule for people, in which `@` stands for the field.
    pub(crate) about: String,
    /// The fields of which a broken rule is a contradiction.
    pub(crate) weighty: BTreeSet<String>,
    /// The origin of the function, for people.
    pub(crate) origin: String,
}

impl FieldRules {
    /// Returns the name of the rule of a field.
    pub(crate) fn id(&self, field: &str) -> String {
        format!("{}.{field}", self.function)
    }

    /// Returns the declarations of the functions.
    pub(crate) fn declarations(&self, book: &RuleBook) -> String {
        let parameters: Vec<String> =
            self.parameters.iter().map(|(name, of)| format!("{name}: {of}")).collect();
        let head = |name: &str| format!("fn {name}({}) -> bool =", parameters.join(", "));
        if book.mode == RuleMode::Learning {
            let each = self.fields.iter().map(|(field, condition)| {
                format!("{} {condition}\n", head(&format!("{}_{field}", self.function)))
            });
            return each.collect();
        }
        let (broken, kept): (Vec<_>, Vec<_>) =
            self.fields.iter().partition(|(field, _)| book.is_left_out(&self.id(field)));
        let broken: Vec<_> =
            broken.into_iter().filter(|(field, _)| book.is_broken(&self.id(field))).collect();
        if kept.is_empty() {
            return String::new();
        }
        let mut text = super::doc_comment(&with_articles(&self.origin));
        if !broken.is_empty() {
            let names: Vec<String> = broken.iter().map(|(field, _)| format!("`{field}`")).collect();
            text.push_str(&super::doc_comment(&format!(
                "Not compared, the service changes them: {}.",
                names.join(", ")
            )));
        }
        let conditions: Vec<&str> = kept.iter().map(|(_, condition)| condition.as_str()).collect();
        text + &format!("{} {}\n", head(&self.function), conditions.join(" && "))
    }

    /// Returns the rules of an answer: `arguments` are those of the function, `wrap` says where they come from.
    pub(crate) fn rules(
        &self,
        book: &RuleBook,
        arguments: &[&str],
        wrap: &dyn Fn(&str) -> String,
    ) -> Vec<ResourceRule> {
        let arguments = arguments.join(", ");
        let is_kept = |field: &str| !book.is_left_out(&self.id(field));
        let rule = |(field, _): &(String, String)| {
            let call = match book.mode {
                RuleMode::Learning => format!("{}_{field}({arguments})", self.function),
                RuleMode::Stateless | RuleMode::Learned => format!("{}({arguments})", self.function),
            };
            ResourceRule {
                id: self.id(field),
                // A broken rule of a field has no function of its own.
                condition: if is_kept(field) { wrap(&call) } else { "true".to_owned() },
                about: match field.strip_suffix(LENGTH) {
                    Some(list) => self.about.replace("`@`", &format!("the length of `{list}`")),
                    None => self.about.replace('@', field),
                },
                weight: if self.weighty.contains(field) {
                    RuleWeight::Contradiction
                } else {
                    RuleWeight::Guess
                },
                topic: RuleTopic::State,
                support: None,
            }
        };
        self.fields.iter().map(rule).collect()
    }
}
