//! Value expressions.

use super::super::lexer::Lexeme;
use super::super::tree::{FormulaKind, TxsExpr, TxsOperator, ValueBinding, VarDef};
use super::super::typing::ANY;
use super::{TxsRead, TxsReader};
use crate::ast::Name;

/// The operators between two values; all have the same precedence.
const OPERATORS: [&str; 17] =
    ["==", "<>", "<=", ">=", "<", ">", "=>", "/\\", "\\/", "\\|/", "++", "+", "-", "*", "/", "%", "<-"];

impl TxsReader<'_> {
    /// `a + b * c`, which is `(a + b) * c`.
    pub(super) fn parse_formula(&mut self) -> TxsRead<TxsExpr> {
        self.with_nesting(|reader| {
            let start = reader.span();
            let first = reader.parse_operand()?;
            let mut rest = Vec::new();
            while let Some(operator) = reader.parse_operator() {
                rest.push((operator, reader.operand_behind(operator)?));
            }
            let span = reader.span_since(start);
            if rest.is_empty() {
                return Ok(first);
            }
            Ok(TxsExpr { kind: FormulaKind::Chain(Box::new(first), rest), span })
        })
    }

    /// Reads an operator. `<-` is `< -` between values; before `?` and `!` it belongs to `DECODE`.
    fn parse_operator(&mut self) -> Option<TxsOperator> {
        let Lexeme::Sign(found) = *self.lexeme() else { return None };
        let sign = OPERATORS.into_iter().find(|sign| *sign == found)?;
        if sign == "<-" && matches!(self.lexeme_after(1), Lexeme::Sign("?" | "!")) {
            return None;
        }
        let span = self.span();
        self.bump();
        Some(TxsOperator { sign, span })
    }

    fn operand_behind(&mut self, operator: TxsOperator) -> TxsRead<TxsExpr> {
        let operand = self.parse_operand()?;
        if operator.sign != "<-" {
            return Ok(operand);
        }
        let span = operand.span;
        Ok(TxsExpr { kind: FormulaKind::Minus(Box::new(operand)), span })
    }

    /// A value without operators around it.
    fn parse_operand(&mut self) -> TxsRead<TxsExpr> {
        let start = self.span();
        let kind = match self.lexeme().clone() {
            Lexeme::Number(text) => {
                self.bump();
                FormulaKind::Number(text)
            }
            Lexeme::Text(text) => {
                self.bump();
                FormulaKind::Text(text)
            }
            Lexeme::Sign("-") => {
                self.bump();
                FormulaKind::Minus(Box::new(self.with_nesting(Self::parse_operand)?))
            }
            Lexeme::Sign("+") => {
                self.bump();
                return self.with_nesting(Self::parse_operand);
            }
            Lexeme::Sign("(") => return self.parse_bracketed(),
            Lexeme::Word(word) => match word.as_str() {
                "True" | "False" => {
                    self.bump();
                    FormulaKind::Bool(word == "True")
                }
                "IF" => self.choice_of_values()?,
                "LET" => self.let_value()?,
                "REGEX" => self.parse_regex()?,
                ANY => {
                    self.bump();
                    self.spec.has_any = true;
                    FormulaKind::Any
                }
                _ => self.parse_application()?,
            },
            _ => return self.report_expected("a value"),
        };
        Ok(TxsExpr { kind, span: self.span_since(start) })
    }

    /// `(e)` or `(e :: Sort)`
    fn parse_bracketed(&mut self) -> TxsRead<TxsExpr> {
        let start = self.span();
        self.bump();
        let inner = self.parse_formula()?;
        let typed = if self.eat("::") { Some(self.expect_name("a type")?) } else { None };
        self.expect_sign(")")?;
        Ok(match typed {
            Some(sort) => {
                TxsExpr { kind: FormulaKind::Typed(Box::new(inner), sort), span: self.span_since(start) }
            }
            None => inner,
        })
    }

    /// Parses a name or a call; the arguments are formulas.
    fn parse_application(&mut self) -> TxsRead<FormulaKind> {
        let name = self.expect_name("a value")?;
        let mut args = Vec::new();
        if self.eat("(") {
            while !self.at_sign(")") {
                args.push(self.parse_formula()?);
                if !self.eat(",") {
                    break;
                }
            }
            self.expect_sign(")")?;
        }
        Ok(FormulaKind::Apply(name, args))
    }

    fn choice_of_values(&mut self) -> TxsRead<FormulaKind> {
        self.bump();
        let condition = self.parse_formula()?;
        self.expect_word("THEN")?;
        let then = self.parse_formula()?;
        self.expect_word("ELSE")?;
        let other = self.parse_formula()?;
        self.expect_word("FI")?;
        Ok(FormulaKind::If(Box::new([condition, then, other])))
    }

    fn let_value(&mut self) -> TxsRead<FormulaKind> {
        let groups = self.parse_bindings()?;
        let body = self.parse_formula()?;
        self.expect_word("NI")?;
        Ok(FormulaKind::Let(groups, Box::new(body)))
    }

    /// `LET x = 1, y = 2; z = x IN`: at once between commas, one after the other between semicolons.
    pub(super) fn parse_bindings(&mut self) -> TxsRead<Vec<Vec<ValueBinding>>> {
        self.expect_word("LET")?;
        let mut groups = Vec::new();
        while !self.at_word("IN") {
            let mut group = vec![self.parse_binding()?];
            while self.eat(",") {
                group.push(self.parse_binding()?);
            }
            groups.push(group);
            if !self.eat(";") {
                break;
            }
        }
        self.expect_word("IN")?;
        Ok(groups)
    }

    /// Parses `name = value` of a `LET`.
    fn parse_binding(&mut self) -> TxsRead<ValueBinding> {
        let var = self.var_def()?;
        self.expect_sign("=")?;
        Ok(ValueBinding { var, value: self.parse_formula()? })
    }

    /// `x` or `x :: Sort`
    pub(super) fn var_def(&mut self) -> TxsRead<VarDef> {
        let name: Name = self.expect_name("the name of a variable")?;
        let sort = if self.eat("::") { Some(self.expect_name("a type")?) } else { None };
        Ok(VarDef { name, sort })
    }

    /// `REGEX('[a-z]+')`
    fn parse_regex(&mut self) -> TxsRead<FormulaKind> {
        self.bump();
        self.expect_sign("(")?;
        let Lexeme::Quoted(text) = self.lexeme().clone() else {
            return self.report_expected("a regular expression in single quotes");
        };
        self.bump();
        self.expect_sign(")")?;
        Ok(FormulaKind::Regex(text))
    }
}
