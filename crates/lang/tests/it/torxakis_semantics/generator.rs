//! Random models of a process algebra.

use super::*;

pub(super) struct Dice(pub(super) u64);

impl Dice {
    pub(super) fn roll(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }

    pub(super) fn one_in(&mut self, n: usize) -> bool {
        self.roll(n) == 0
    }
}

/// The context in which a behaviour is generated.
#[derive(Clone)]
struct Place {
    nums: Vec<String>,
    conds: Vec<String>,
    channels: Vec<(String, Vec<Sort>)>,
    /// It ends with `EXIT` and a number.
    exits: bool,
    /// The processes below this number may be called, the one with it too if something happens before, and mostly only
    /// if the call is the last thing that happens.
    below: usize,
    is_tail: bool,
    is_guarded: bool,
}

struct Generator {
    dice: Dice,
    fresh: usize,
    exits: Vec<bool>,
}

impl Generator {
    fn num(&mut self, place: &Place, depth: usize) -> Num {
        match self.dice.roll(if depth == 0 { 3 } else { 5 }) {
            0 => Num::Lit(self.dice.roll(3) as i64),
            1 | 2 if !place.nums.is_empty() => Num::Var(place.nums[self.dice.roll(place.nums.len())].clone()),
            3 => Num::Sum(self.num(place, depth - 1).into(), self.num(place, depth - 1).into()),
            4 => Num::If(
                self.cond(place, depth - 1).into(),
                self.num(place, depth - 1).into(),
                self.num(place, depth - 1).into(),
            ),
            _ => Num::Lit(self.dice.roll(3) as i64),
        }
    }

    fn cond(&mut self, place: &Place, depth: usize) -> Cond {
        match self.dice.roll(if depth == 0 { 4 } else { 6 }) {
            0 => Cond::Lit(self.dice.roll(2) as i64),
            1 if !place.conds.is_empty() => Cond::Var(place.conds[self.dice.roll(place.conds.len())].clone()),
            2 => Cond::Same(self.num(place, 0).into(), self.num(place, 0).into()),
            4 => Cond::Not(self.cond(place, depth - 1).into()),
            5 => Cond::And(self.cond(place, depth - 1).into(), self.cond(place, depth - 1).into()),
            _ => Cond::Less(self.num(place, 0).into(), self.num(place, 0).into()),
        }
    }

    fn val(&mut self, place: &Place, sort: Sort) -> Val {
        match sort {
            Sort::Int => Val::Num(self.num(place, 1)),
            Sort::Bool => Val::Cond(self.cond(place, 1)),
        }
    }

    fn var(&mut self, place: &mut Place, sort: Sort) -> String {
        // Now and then a name that hides another.
        let names = if sort == Sort::Int { &mut place.nums } else { &mut place.conds };
        if !names.is_empty() && self.dice.one_in(4) {
            return names[self.dice.roll(names.len())].clone();
        }
        self.fresh += 1;
        let name = format!("{}{}", if sort == Sort::Int { "n" } else { "c" }, self.fresh);
        names.push(name.clone());
        name
    }

    /// Offers of these sorts; what they take is in scope in the place that is returned.
    fn offers(&mut self, place: &Place, sorts: &[Sort]) -> (Vec<Off>, Place) {
        let mut inner = place.clone();
        let mut offs = Vec::new();
        for &sort in sorts {
            if self.dice.one_in(2) {
                let mut name = self.var(&mut inner, sort);
                while binds(&offs, &name) {
                    name.push('_');
                    if sort == Sort::Int {
                        inner.nums.push(name.clone())
                    } else {
                        inner.conds.push(name.clone())
                    }
                }
                offs.push(Off::Take(name, sort));
            } else {
                offs.push(Off::Give(self.val(place, sort)));
            }
        }
        (offs, inner)
    }

    fn action(&mut self, place: &Place, depth: usize) -> Beh {
        if self.dice.one_in(8) {
            let inner = Place { is_guarded: true, ..place.clone() };
            return Beh::Act(vec![(TAU.into(), Vec::new())], None, self.beh(&inner, depth).into());
        }
        let channels = self.channels(place);
        let sorts: Vec<Sort> = channels.iter().flat_map(|(_, sorts)| sorts.clone()).collect();
        let (offs, mut inner) = self.offers(place, &sorts);
        let guard = self.dice.one_in(3).then(|| self.cond(&inner, 1));
        inner.is_guarded = true;
        let mut offs = offs.into_iter();
        let own = |(chan, sorts): (String, Vec<Sort>)| (chan, offs.by_ref().take(sorts.len()).collect());
        let mut on: Vec<(String, Vec<Off>)> = channels.into_iter().map(own).collect();
        if self.dice.one_in(12) {
            on.insert(self.dice.roll(on.len() + 1), (TAU.into(), Vec::new()));
        }
        if place.exits && self.dice.one_in(3) {
            let off = self.exit_offer(place);
            on.insert(self.dice.roll(on.len() + 1), (EXIT.into(), vec![off]));
            return Beh::Act(on, guard, Beh::Stop.into());
        }
        Beh::Act(on, guard, self.beh(&inner, depth).into())
    }

    /// A channel, or several at once: inputs or outputs, and hidden ones.
    fn channels(&mut self, place: &Place) -> Vec<(String, Vec<Sort>)> {
        let mut found = vec![place.channels[self.dice.roll(place.channels.len())].clone()];
        if self.dice.one_in(5) {
            let joint =
                [&["A", "B"][..], &["C", "D"], &["C", "E"], &["D", "E"], &["C", "D", "E"]][self.dice.roll(5)];
            found = joint.iter().map(|chan| ((*chan).to_owned(), sorts_of(chan).to_vec())).collect();
        }
        for hidden in place.channels.iter().skip(CHANNELS.len()) {
            if self.dice.one_in(3) && !found.contains(hidden) {
                found.insert(self.dice.roll(found.len() + 1), hidden.clone());
            }
        }
        found
    }

    /// Two sides of a composition agree on the value of an exit only if one of them leaves it open.
    fn exit_offer(&mut self, place: &Place) -> Off {
        if self.dice.one_in(4) {
            Off::Take("e".into(), Sort::Int)
        } else {
            Off::Give(self.val(place, Sort::Int))
        }
    }

    fn end(&mut self, place: &Place) -> Beh {
        let comes_back = place.is_guarded && (place.is_tail || self.dice.one_in(3));
        let last = if comes_back { place.below + 1 } else { place.below };
        let callable: Vec<usize> =
            (0..last.min(self.exits.len())).filter(|&p| self.exits[p] == place.exits).collect();
        if !callable.is_empty() && !self.dice.one_in(4) {
            let proc = callable[self.dice.roll(callable.len())];
            return Beh::Call(proc, vec![self.val(place, Sort::Int), self.val(place, Sort::Bool)]);
        }
        if place.exits {
            let off = self.exit_offer(place);
            return Beh::Act(vec![(EXIT.into(), vec![off])], None, Beh::Stop.into());
        }
        Beh::Stop
    }

    fn beh(&mut self, place: &Place, depth: usize) -> Beh {
        if depth == 0 {
            return self.end(place);
        }
        let depth = depth - 1;
        let inside = Place { is_tail: false, ..place.clone() };
        match self.dice.roll(20) {
            0..=7 => self.action(place, depth),
            8..=11 => Beh::Choice(self.beh(place, depth).into(), self.beh(place, depth).into()),
            12 => Beh::Guard(self.cond(place, 1), self.beh(place, depth).into()),
            13 => {
                let sort = if self.dice.one_in(2) { Sort::Int } else { Sort::Bool };
                let v = self.val(place, sort);
                let mut inner = place.clone();
                let name = self.var(&mut inner, sort);
                Beh::Let(name, v, self.beh(&inner, depth).into())
            }
            14 => {
                let sync = self.sync(place);
                Beh::Par(sync, self.beh(&inside, depth).into(), self.beh(&inside, depth).into())
            }
            15 | 16 => self.enable(place, &inside, depth),
            17 => Beh::Disable(self.beh(&inside, depth).into(), self.beh(place, depth).into()),
            18 => {
                let other = Place { exits: true, ..inside.clone() };
                Beh::Interrupt(self.beh(&inside, depth).into(), self.beh(&other, depth).into())
            }
            _ => {
                self.fresh += 1;
                let sorts = if self.dice.one_in(2) { vec![Sort::Bool] } else { Vec::new() };
                let chan = format!("H{}", self.fresh);
                let mut inner = inside;
                inner.channels.push((chan.clone(), sorts.clone()));
                Beh::Hide(chan, sorts, self.beh(&inner, depth).into())
            }
        }
    }

    fn sync(&mut self, place: &Place) -> Option<Vec<String>> {
        if self.dice.one_in(4) {
            return None;
        }
        let picked = place.channels.iter().filter(|_| self.dice.one_in(2));
        Some(picked.map(|(name, _)| name.clone()).collect())
    }

    fn enable(&mut self, place: &Place, inside: &Place, depth: usize) -> Beh {
        let left = self.beh(&Place { exits: true, ..inside.clone() }, depth);
        let (offs, mut inner) = self.offers(place, &[Sort::Int]);
        inner.is_guarded = true;
        Beh::Enable(left.into(), offs, self.beh(&inner, depth).into())
    }
}

pub(super) fn plan(seed: u64) -> (Vec<Proc>, Beh) {
    let mut dice = Dice(seed.wrapping_mul(7919) + 1);
    for _ in 0..5 {
        dice.roll(2);
    }
    let n = 1 + dice.roll(3);
    let exits: Vec<bool> = (0..n).map(|_| dice.one_in(3)).collect();
    let mut generator = Generator { dice, fresh: 0, exits: exits.clone() };
    let channels: Vec<(String, Vec<Sort>)> =
        CHANNELS.iter().map(|(name, sorts, _)| ((*name).to_owned(), sorts.to_vec())).collect();
    let place = |nums: Vec<String>, conds: Vec<String>, exits, below| Place {
        nums,
        conds,
        channels: channels.clone(),
        exits,
        below,
        is_tail: true,
        is_guarded: false,
    };
    let mut procs = Vec::new();
    for (at, &exits) in exits.iter().enumerate() {
        let body = generator.beh(&place(vec!["x".into()], vec!["b".into()], exits, at), 4);
        procs.push(Proc { exits, body });
    }
    let start = place(Vec::new(), Vec::new(), false, n);
    let side = |generator: &mut Generator| {
        let depth = 1 + generator.dice.roll(3);
        generator.beh(&Place { is_tail: false, ..start.clone() }, depth)
    };
    let mut model = side(&mut generator);
    for _ in 0..generator.dice.roll(3) {
        let sync = generator.sync(&start);
        model = Beh::Par(sync, model.into(), side(&mut generator).into());
    }
    (procs, model)
}

// Text.
