//! The choice of a tester, as `--tester`, the facade and the explorer name it: [`TesterSpec`].
//!
//! A choice is parsed once, and printed as it is written: `purpose:cash`, `complete:extra=1,refine=1`. It is not looked
//! up in a model before the tester is made.

use std::fmt;
use std::str::FromStr;

use ioxide_fsm::suite::SuiteMethod;
use ioxide_model::goal::GoalKind;
use ioxide_model::sts::Sts;
use ioxide_model::suggest::nearest_name;
use thiserror::Error;

/// The tester that chooses the inputs of a campaign.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum TesterSpec {
    /// Purposes for every transition, then long walks towards transitions that were not taken: the default.
    #[default]
    Hunt,
    /// Purposes for everything that is to be covered.
    Cover,
    /// Purposes for everything that is to be covered, in few long runs.
    Tour,
    /// The purposes of these names in the model.
    Purpose(PurposeNames),
    /// The goal of this name, forced where a strategy can force it.
    Force(String),
    /// All `test` blocks of the model.
    Tests,
    /// The `test` block of this name.
    Test(String),
    /// The test case in this file, written by `ioxide case --format json`.
    Case(String),
    /// The tests in this file, written by `ioxide fsm --out` or another command.
    Suite(String),
    /// A complete suite of the model with these options, in the order in which they were given.
    Complete(Vec<CompleteOption>),
    /// Tests that kill mutants of the model.
    Kill,
    /// Inputs drawn at random.
    Random,
}

/// The names of purposes, separated by commas in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PurposeNames(Vec<String>);

impl PurposeNames {
    /// Returns the names, in the order in which they were given.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }
}

impl From<&str> for PurposeNames {
    fn from(names: &str) -> Self {
        Self(names.split(',').map(str::to_owned).collect())
    }
}

impl From<String> for PurposeNames {
    fn from(names: String) -> Self {
        Self::from(names.as_str())
    }
}

/// An option of a complete suite, as in `complete:extra=1`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CompleteOption {
    /// The number of extra states of the system.
    Extra(usize),
    /// The least number of choices of values for every word.
    Values(usize),
    /// The distance by which comparisons in the guards of the system may be off.
    Refine(u32),
    /// The number of condition classes of a bounded abstraction.
    Bounded(usize),
    /// The method that makes the words.
    Method(SuiteMethod),
    /// A requirement or transition whose answers matter.
    Only(String),
}

/// The reason why a text names no tester.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TesterSpecError {
    /// There is no tester of this name.
    #[error("there is no tester `{text}`")]
    Unknown {
        /// The text.
        text: String,
        /// The tester that may have been meant.
        nearest: Option<String>,
    },
    /// There is no such option of a complete suite, or its value is not a number.
    #[error("`{option}` has no meaning for a complete suite")]
    CompleteOption {
        /// The text of the option.
        option: String,
    },
    /// There is no such method for complete suites.
    #[error("there is no method `{name}`")]
    Method {
        /// The text of the method.
        name: String,
    },
}

impl TesterSpecError {
    /// Returns the help for the user: the text that may have been meant, or all that can be written.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::Unknown { nearest, .. } => {
                let meant = nearest.as_ref().map(|nearest| format!("did you mean `{nearest}`? "));
                let [others @ .., last] = &TesterSpec::FORMS;
                format!("{}there is `{}` and `{last}`", meant.unwrap_or_default(), others.join("`, `"))
            }
            Self::CompleteOption { .. } => {
                "write `complete:extra=1,refine=1,values=2,method=h,only=NAME`".to_owned()
            }
            Self::Method { .. } => {
                let names: Vec<&str> = SuiteMethod::ALL.iter().map(|method| method.name()).collect();
                format!("there is {}", names.join(", "))
            }
        }
    }
}

impl TesterSpec {
    /// The forms in which testers are written, the default first.
    pub const FORMS: [&str; 13] = [
        "hunt",
        "cover",
        "tour",
        "purpose:NAME,...",
        "force:NAME",
        "tests",
        "test:NAME",
        "case:FILE",
        "suite:FILE",
        "complete",
        "complete:extra=1,...",
        "kill",
        "random",
    ];

    /// Returns the name of the kind of tester: the text up to the colon.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Hunt => "hunt",
            Self::Cover => "cover",
            Self::Tour => "tour",
            Self::Purpose(_) => "purpose",
            Self::Force(_) => "force",
            Self::Tests => "tests",
            Self::Test(_) => "test",
            Self::Case(_) => "case",
            Self::Suite(_) => "suite",
            Self::Complete(_) => "complete",
            Self::Kill => "kill",
            Self::Random => "random",
        }
    }

    /// Returns the names of all kinds of testers, the default first.
    #[must_use]
    pub fn names() -> Vec<&'static str> {
        let mut names: Vec<&str> =
            // Two forms of one kind stand side by side, so `dedup` finds them.
            Self::FORMS.iter().map(|form| form.split_once(':').map_or(*form, |(name, _)| name)).collect();
        names.dedup();
        names
    }

    /// Returns the file that the tester is read from; `None` for testers that are made from the model alone.
    #[must_use]
    pub fn file(&self) -> Option<&str> {
        match self {
            Self::Case(file) | Self::Suite(file) => Some(file),
            _ => None,
        }
    }

    /// Returns whether the tester can test a model that has clocks.
    #[must_use]
    pub fn knows_time(&self) -> bool {
        !matches!(self, Self::Tour | Self::Suite(_) | Self::Complete(_))
    }

    /// Returns the testers that can be made from the model alone, the default first, with each of its purposes and
    /// tests.
    #[must_use]
    pub fn for_model(sts: &Sts) -> Vec<Self> {
        let named = |is_wanted: fn(&GoalKind) -> bool| {
            let wanted = sts.goals.iter().filter(move |goal| is_wanted(&goal.kind));
            wanted.map(|goal| goal.name.to_string())
        };
        let purposes =
            named(|kind| matches!(kind, GoalKind::Path(_) | GoalKind::Reach { .. } | GoalKind::Observer(_)));
        // The goal of a game is a place or the verdict of an observer. With clocks or unknown values it depends on the
        // whole model whether there is a game, so none is offered.
        let is_game = !sts.is_timed() && !sts.has_unknowns();
        let forced = named(|kind| matches!(kind, GoalKind::Reach { .. } | GoalKind::Observer(_)));
        let tests: Vec<String> = named(|kind| matches!(kind, GoalKind::Test(_))).collect();
        let all_tests = (!tests.is_empty()).then_some(Self::Tests);
        let testers = [Self::Hunt, Self::Cover, Self::Tour]
            .into_iter()
            .chain(purposes.map(|name| Self::Purpose(PurposeNames(vec![name]))))
            .chain(forced.filter(|_| is_game).map(Self::Force))
            .chain(all_tests)
            .chain(tests.into_iter().map(Self::Test))
            .chain([Self::Complete(Vec::new()), Self::Kill, Self::Random]);
        testers.filter(|tester| tester.knows_time() || !sts.is_timed()).collect()
    }
}

impl FromStr for TesterSpec {
    type Err = TesterSpecError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // Up to the first colon only: names and files may contain others.
        let spec = match text.split_once(':') {
            None => match text {
                "hunt" => Self::Hunt,
                "cover" => Self::Cover,
                "tour" => Self::Tour,
                "tests" => Self::Tests,
                "complete" => Self::Complete(Vec::new()),
                "kill" => Self::Kill,
                "random" => Self::Random,
                _ => return Err(unknown_tester(text)),
            },
            Some((name, argument)) => match name {
                "purpose" => Self::Purpose(argument.into()),
                "force" => Self::Force(argument.to_owned()),
                "test" => Self::Test(argument.to_owned()),
                "case" => Self::Case(argument.to_owned()),
                "suite" => Self::Suite(argument.to_owned()),
                "complete" => {
                    // `complete:` without options is the suite without options.
                    let options = argument.split(',').filter(|option| !option.is_empty());
                    Self::Complete(options.map(str::parse).collect::<Result<_, _>>()?)
                }
                _ => return Err(unknown_tester(text)),
            },
        };
        Ok(spec)
    }
}

/// Returns the error for a text that names no tester, with the tester whose name is nearest.
fn unknown_tester(text: &str) -> TesterSpecError {
    let (name, argument) = text.split_once(':').map_or((text, None), |(name, rest)| (name, Some(rest)));
    // With an argument, only testers that take one are meant; without one, only forms that need none.
    let takes_argument = |form: &&str| form.contains(':') == argument.is_some();
    let forms = TesterSpec::FORMS.iter().copied().filter(takes_argument);
    let names = forms.map(|form| form.split_once(':').map_or(form, |(name, _)| name));
    let nearest = nearest_name(name, names).map(|nearest| match argument {
        Some(argument) => format!("{nearest}:{argument}"),
        None => nearest.to_owned(),
    });
    TesterSpecError::Unknown { text: text.to_owned(), nearest }
}

impl FromStr for CompleteOption {
    type Err = TesterSpecError;

    fn from_str(option: &str) -> Result<Self, Self::Err> {
        let wrong = || TesterSpecError::CompleteOption { option: option.to_owned() };
        let (name, value) = option.split_once('=').ok_or_else(wrong)?;
        let number = || value.parse::<usize>().map_err(|_| wrong());
        Ok(match name {
            "extra" => Self::Extra(number()?),
            "values" => Self::Values(number()?),
            "refine" => Self::Refine(value.parse().map_err(|_| wrong())?),
            "bounded" => Self::Bounded(number()?),
            "method" => {
                let unknown = |_| TesterSpecError::Method { name: value.to_owned() };
                Self::Method(value.parse().map_err(unknown)?)
            }
            "only" => Self::Only(value.to_owned()),
            _ => return Err(wrong()),
        })
    }
}

impl fmt::Display for TesterSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match self {
            Self::Purpose(names) => write!(f, ":{}", names.0.join(",")),
            Self::Force(name) | Self::Test(name) => write!(f, ":{name}"),
            Self::Case(file) | Self::Suite(file) => write!(f, ":{file}"),
            Self::Complete(options) if !options.is_empty() => {
                let options: Vec<String> = options.iter().map(ToString::to_string).collect();
                write!(f, ":{}", options.join(","))
            }
            _ => Ok(()),
        }
    }
}

impl fmt::Display for CompleteOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Extra(number) => write!(f, "extra={number}"),
            Self::Values(number) => write!(f, "values={number}"),
            Self::Refine(number) => write!(f, "refine={number}"),
            Self::Bounded(number) => write!(f, "bounded={number}"),
            Self::Method(method) => write!(f, "method={}", method.name()),
            Self::Only(name) => write!(f, "only={name}"),
        }
    }
}
