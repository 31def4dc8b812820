//! Simultaneous substitution, free of capture by the numbering of bound variables.

use rustc_hash::FxHashMap;

use super::{Term, TermNode, TermPool, VarId};

/// A finite map from variables to the terms that replace them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Substitution {
    map: FxHashMap<VarId, Term>,
}

impl Substitution {
    /// Makes a substitution that replaces nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Replaces `var` by `term`, instead of any earlier term.
    pub fn set(&mut self, var: VarId, term: Term) {
        self.map.insert(var, term);
    }

    /// Returns the term that replaces `var`; `None` if it is not replaced.
    #[must_use]
    pub fn get(&self, var: VarId) -> Option<Term> {
        self.map.get(&var).copied()
    }

    /// Returns whether no variable is replaced.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.map.is_empty()
    }
}

impl FromIterator<(VarId, Term)> for Substitution {
    fn from_iter<I: IntoIterator<Item = (VarId, Term)>>(pairs: I) -> Self {
        Self { map: pairs.into_iter().collect() }
    }
}

impl TermPool {
    /// `term` with all variables of `subst` replaced at once, simplified again on the way.
    pub fn substitute(&mut self, term: Term, subst: &Substitution) -> Term {
        if subst.is_empty() || self.is_ground(term) {
            return term;
        }
        // Children come before their parents, so their images are ready. Ground parts, and binders of a
        // replaced variable, are their own images and are not entered.
        let order = self.subterms(&[term], |sub| !self.is_ground(sub) && !self.binds_any(sub, subst));
        let mut images: FxHashMap<Term, Term> = FxHashMap::default();
        for sub in order {
            let image = self.image(sub, subst, &images);
            if image != sub {
                images.insert(sub, image);
            }
        }
        images.get(&term).copied().unwrap_or(term)
    }

    /// Returns whether `term` binds a variable of `subst`, so that nothing changes below it.
    ///
    /// Only renaming bound variables meets this; see the module of [`exists`](Self::exists).
    fn binds_any(&self, term: Term, subst: &Substitution) -> bool {
        self.node(term).binds().iter().any(|&var| subst.get(var).is_some())
    }

    /// The image of `sub`, whose children have theirs in `images`.
    fn image(&mut self, sub: Term, subst: &Substitution, images: &FxHashMap<Term, Term>) -> Term {
        if let TermNode::Var(var) = self.node(sub) {
            return subst.get(*var).unwrap_or(sub);
        }
        if self.binds_any(sub, subst) {
            return sub;
        }
        self.with_children(sub, |child| images.get(&child).copied().unwrap_or(child))
    }

    /// `term` built again, and simplified again, with `image(child)` for every child.
    ///
    /// The body of a quantifier is a child, and its bound variables are free in it: an
    /// image must not put a quantifier around them that binds more variables than before.
    pub fn with_children(&mut self, term: Term, image: impl Fn(Term) -> Term) -> Term {
        if self.node(term).children().all(|child| image(child) == child) {
            return term;
        }
        let node = self.node(term).clone();
        self.rebuild(&node, image)
    }

    /// Builds `node` again with other children.
    fn rebuild(&mut self, node: &TermNode, image: impl Fn(Term) -> Term) -> Term {
        // By the builders of the pool and not by `intern`: with the new children a rule may apply that did
        // not before.
        let all = |list: &[Term]| list.iter().map(|&child| image(child)).collect::<Vec<_>>();
        match node {
            TermNode::Value(_) | TermNode::Var(_) => self.intern(node.clone()),
            TermNode::Not(a) => self.not(image(*a)),
            TermNode::And(list) => self.and(all(list)),
            TermNode::Or(list) => self.or(all(list)),
            TermNode::Eq(a, b) => self.eq(image(*a), image(*b)),
            TermNode::Lt(a, b) => self.lt(image(*a), image(*b)),
            TermNode::Le(a, b) => self.le(image(*a), image(*b)),
            TermNode::Ite(c, a, b) => self.ite(image(*c), image(*a), image(*b)),
            TermNode::Add(list) => self.add(all(list)),
            TermNode::Mul(list) => self.mul(all(list)),
            TermNode::Div(a, b) => self.div(image(*a), image(*b)),
            TermNode::Rem(a, b) => self.rem(image(*a), image(*b)),
            TermNode::RealDiv(a, b) => self.real_div(image(*a), image(*b)),
            TermNode::ToReal(a) => self.to_real(image(*a)),
            TermNode::Floor(a) => self.floor(image(*a)),
            TermNode::Concat(list) => self.concat(all(list)),
            TermNode::Length(a) => self.length(image(*a)),
            TermNode::Contains(a, b) => self.contains(image(*a), image(*b)),
            TermNode::Prefix(a, b) => self.prefix(image(*a), image(*b)),
            TermNode::Suffix(a, b) => self.suffix(image(*a), image(*b)),
            TermNode::TextLe(a, b) => self.text_le(image(*a), image(*b)),
            TermNode::Matches(a, pattern) => self.matches(image(*a), *pattern),
            TermNode::Construct(data, ctor, list) => self.construct(*data, *ctor, all(list)),
            TermNode::Is(ctor, a) => self.is(*ctor, image(*a)),
            TermNode::Select { ctor, field, arg } => self.select(*ctor, *field, image(*arg)),
            TermNode::Exists(vars, body) => self.exists(vars, image(*body)),
            TermNode::Elements(sort, parts) => self.elements(*sort, all(parts)),
            TermNode::Apply(op, args) => self.operate(*op, all(args)),
            TermNode::Lambda(var, body) => self.lambda(*var, image(*body)),
            TermNode::Call(function, args) => self.call(*function, all(args)),
        }
    }
}
