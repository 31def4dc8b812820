//! The text of expressions and types.

use super::Printer;
use ioxide_model::name::source_name;
use ioxide_model::term::string_literal;

use crate::ast::{
    AddOp, CmpOp, Expr, ExprKind, MatchArm, MulOp, Name, PatternExpr, PatternKind, Quantifier, Type, TypeKind,
};

/// `expr` on one line.
pub(crate) fn expr_text(expr: &Expr) -> String {
    let mut text = String::new();
    write_expr(expr, &mut text);
    text
}

/// `ty` on one line.
pub(super) fn type_text(ty: &Type) -> String {
    match &ty.kind {
        TypeKind::Named(name) => source_name(name).into_owned(),
        TypeKind::Range(lo, hi) => format!("{}..{}", expr_text(lo), expr_text(hi)),
        TypeKind::Option(inner) => format!("{}?", type_text(inner)),
        TypeKind::Paren(inner) => format!("({})", type_text(inner)),
        TypeKind::Collection(name, of) => {
            let of: Vec<String> = of.iter().map(type_text).collect();
            format!("{}<{}>", name.written(), of.join(", "))
        }
    }
}

impl Printer<'_> {
    /// `prefix` and `value`, over several lines if they do not fit on one.
    pub(super) fn broken(&mut self, prefix: &str, value: &Expr) {
        let line = format!("{prefix}{}", expr_text(value));
        if self.fits(&line) {
            return self.write_line(&line);
        }
        match &value.kind {
            ExprKind::And(list) => self.write_joined(prefix, list, "&& "),
            ExprKind::Or(list) => self.write_joined(prefix, list, "|| "),
            ExprKind::Implies(list) => self.write_joined(prefix, list, "=> "),
            ExprKind::If(arms, otherwise) => {
                let mut lead = format!("{prefix}if ");
                for (condition, value) in arms {
                    self.write_line(&format!("{lead}{} then {}", expr_text(condition), expr_text(value)));
                    lead = "else if ".to_owned();
                }
                self.write_line(&format!("else {}", expr_text(otherwise)));
            }
            ExprKind::Match(scrutinee, arms) => {
                self.write_line(&format!("{prefix}match {} {{", expr_text(scrutinee)));
                self.level += 1;
                for arm in arms {
                    self.write_line(&format!("{},", arm_text(arm)));
                }
                self.level -= 1;
                self.write_line("}");
            }
            _ => self.write_line(&line),
        }
    }

    /// One operand per line, the sign in front; deeper than `prefix` if there is one.
    fn write_joined(&mut self, prefix: &str, operands: &[Expr], sign: &str) {
        let deeper = usize::from(!prefix.is_empty());
        for (index, operand) in operands.iter().enumerate() {
            let (lead, level) = if index == 0 { (prefix, 0) } else { (sign, deeper) };
            self.level += level;
            self.write_line(&format!("{lead}{}", expr_text(operand)));
            self.level -= level;
        }
    }
}

fn arm_text(arm: &MatchArm) -> String {
    format!("{} => {}", pattern_text(&arm.pattern), expr_text(&arm.value))
}

/// Returns a pattern as it is written in a model.
pub(super) fn pattern_text(pattern: &PatternExpr) -> String {
    match &pattern.kind {
        PatternKind::Any => "_".into(),
        PatternKind::Name(name) => source_name(name).into_owned(),
        PatternKind::None => "none".into(),
        PatternKind::Some(name) => format!("some({})", name.written()),
        PatternKind::Case(name, parts) => format!("{}({})", source_name(name), name_texts(parts).join(", ")),
        PatternKind::List(items, rest) => {
            let rest = rest.iter().map(|rest| format!("..{}", rest.written()));
            format!("[{}]", name_texts(items).into_iter().chain(rest).collect::<Vec<_>>().join(", "))
        }
        PatternKind::Literal(literal) => expr_text(literal),
    }
}

/// Returns the texts of `list`.
fn name_texts(list: &[Name]) -> Vec<String> {
    list.iter().map(|name| name.written().into_owned()).collect()
}

/// Writes `expr`; brackets are nodes of the tree, so none have to be added.
fn write_expr(expr: &Expr, out: &mut String) {
    match &expr.kind {
        ExprKind::Error(_) => {}
        ExprKind::Bool(b) => out.push_str(if *b { "true" } else { "false" }),
        ExprKind::Number(text) => out.push_str(text),
        ExprKind::Name(text) => out.push_str(&source_name(text)),
        ExprKind::Str(text) => out.push_str(&string_literal(text)),
        ExprKind::None => out.push_str("none"),
        ExprKind::Some(inner) => write_wrapped("some(", inner, ")", out),
        ExprKind::Paren(inner) => write_wrapped("(", inner, ")", out),
        ExprKind::Not(inner) => write_wrapped("!", inner, "", out),
        ExprKind::Neg(inner) => write_wrapped("-", inner, "", out),
        ExprKind::Sum(first, rest) => write_chain(first, rest.iter().map(|(op, e)| (add_sign(*op), e)), out),
        ExprKind::Product(first, rest) => {
            write_chain(first, rest.iter().map(|(op, e)| (mul_sign(*op), e)), out)
        }
        ExprKind::Compare(first, rest) => {
            write_chain(first, rest.iter().map(|(op, e)| (cmp_sign(*op), e)), out)
        }
        ExprKind::Is(value, case) => {
            write_wrapped("", value, " is ", out);
            // `none` and `some` are words here.
            let is_word = matches!(case.text.as_str(), "none" | "some");
            out.push_str(&if is_word { case.text.as_str().into() } else { case.written() });
        }
        ExprKind::Range(lo, hi) => {
            write_wrapped("", lo, "..", out);
            write_expr(hi, out);
        }
        ExprKind::And(list) => write_list(list, " && ", out),
        ExprKind::Or(list) => write_list(list, " || ", out),
        ExprKind::Implies(list) => write_list(list, " => ", out),
        ExprKind::If(arms, otherwise) => {
            for (condition, value) in arms {
                write_wrapped("if ", condition, " then ", out);
                write_wrapped("", value, " else ", out);
            }
            write_expr(otherwise, out);
        }
        ExprKind::Match(scrutinee, arms) => {
            write_wrapped("match ", scrutinee, " { ", out);
            let arms: Vec<String> = arms.iter().map(arm_text).collect();
            out.push_str(&arms.join(", "));
            out.push_str(if arms.is_empty() { "}" } else { " }" });
        }
        ExprKind::Quantified { quantifier, var, lo, hi, body } => {
            out.push_str(if *quantifier == Quantifier::Exists { "exists " } else { "forall " });
            out.push_str(&var.written());
            write_wrapped(" in ", lo, "..", out);
            write_wrapped("", hi, ": ", out);
            write_expr(body, out);
        }
        ExprKind::Over { word, var, of, body } => {
            out.push_str(&format!("{} {}", word.word(), var.written()));
            write_wrapped(" in ", of, ": ", out);
            write_expr(body, out);
        }
        ExprKind::Comprehension { set, item, var, of, keep } => {
            write_wrapped(if *set { "{" } else { "[" }, item, " for ", out);
            out.push_str(&var.written());
            write_wrapped(" in ", of, "", out);
            if let Some(keep) = keep {
                write_wrapped(" if ", keep, "", out);
            }
            out.push(if *set { '}' } else { ']' });
        }
        ExprKind::List(items) => {
            out.push('[');
            write_list(items, ", ", out);
            out.push(']');
        }
        ExprKind::Set(items) => {
            out.push('{');
            write_list(items, ", ", out);
            out.push('}');
        }
        ExprKind::Map(entries) => {
            out.push('{');
            for (index, (key, value)) in entries.iter().enumerate() {
                write_wrapped(if index > 0 { ", " } else { "" }, key, ": ", out);
                write_expr(value, out);
            }
            out.push('}');
        }
        ExprKind::Index(receiver, key) => {
            write_wrapped("", receiver, "[", out);
            write_wrapped("", key, "]", out);
        }
        ExprKind::Call(name, args) => {
            out.push_str(&name.written());
            out.push('(');
            for (index, arg) in args.iter().enumerate() {
                out.push_str(if index > 0 { ", " } else { "" });
                if let Some(name) = &arg.name {
                    out.push_str(&name.written());
                    out.push_str(": ");
                }
                write_expr(&arg.value, out);
            }
            out.push(')');
        }
        ExprKind::Method(receiver, name, args) => {
            write_wrapped("", receiver, ".", out);
            out.push_str(&name.written());
            out.push('(');
            write_list(args, ", ", out);
            out.push(')');
        }
        ExprKind::Field(receiver, name) => {
            write_wrapped("", receiver, ".", out);
            out.push_str(&name.written());
        }
    }
}

fn write_wrapped(before: &str, inner: &Expr, behind: &str, out: &mut String) {
    out.push_str(before);
    write_expr(inner, out);
    out.push_str(behind);
}

fn write_list(list: &[Expr], sign: &str, out: &mut String) {
    for (index, expr) in list.iter().enumerate() {
        out.push_str(if index > 0 { sign } else { "" });
        write_expr(expr, out);
    }
}

/// Writes operands with their signs between them.
fn write_chain<'e>(first: &Expr, rest: impl Iterator<Item = (&'static str, &'e Expr)>, out: &mut String) {
    write_expr(first, out);
    for (sign, expr) in rest {
        out.push_str(sign);
        write_expr(expr, out);
    }
}

fn add_sign(op: AddOp) -> &'static str {
    match op {
        AddOp::Add => " + ",
        AddOp::Sub => " - ",
    }
}

fn mul_sign(op: MulOp) -> &'static str {
    match op {
        MulOp::Mul => " * ",
        MulOp::Div => " / ",
        MulOp::Rem => " % ",
    }
}

fn cmp_sign(op: CmpOp) -> &'static str {
    match op {
        CmpOp::Eq => " == ",
        CmpOp::Ne => " != ",
        CmpOp::Lt => " < ",
        CmpOp::Le => " <= ",
        CmpOp::Gt => " > ",
        CmpOp::Ge => " >= ",
    }
}
