//! What other crates need to rewrite terms without recursion: the subterms in an order
//! that meets children first, and a term built again with other children.

use super::{Term, TermPool};

impl TermPool {
    /// The subterms of `roots`, children before parents, each once.
    ///
    /// `enter` decides whether to look below a term; the term itself is always listed.
    pub fn subterms_where(&self, roots: &[Term], enter: impl Fn(Term) -> bool) -> Vec<Term> {
        self.subterms(roots, enter)
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
}
