/// The grammar of ioxide's language for editors that colour and select with tree-sitter.
///
/// It reads what the language has; what a text means, and errors that teach, are the business of `ioxide`.

const commaSep = (rule) => optional(commaSep1(rule));
const commaSep1 = (rule) => seq(rule, repeat(seq(',', rule)), optional(','));

/// A name, where one of `words` can be meant as a word of the language as well.
const nameOr = ($, ...words) => choice($.identifier, ...words.map((word) => alias(word, $.identifier)));

module.exports = grammar({
  name: 'ioxide',

  extras: ($) => [/\s/, /\uFEFF/, $.comment, $.doc_comment],

  word: ($) => $.identifier,

  conflicts: ($) => [[$._expression, $._count_heading], [$._expression, $._bound]],

  rules: {
    source_file: ($) => repeat(choice($._shared, $.model, $.system)),

    // What the models of a file share stands in front of them.
    _shared: ($) =>
      choice($.shared_use, seq(repeat($.attribute), choice($.constant, $.type_alias, $.enum, $.record, $.function))),
    shared_use: ($) => seq('use', commaSep1(field('name', $.identifier)), 'from', field('file', $.string)),

    comment: () => token(choice(seq('//', /[^/\n][^\n]*/), '//', seq('////', /[^\n]*/))),
    doc_comment: () => token(prec(1, seq('///', optional(seq(/[^/\n]/, /[^\n]*/))))),

    attribute: ($) => seq('@', field('name', $.identifier), '(', choice($.string, $.number), ')'),

    model: ($) => seq(repeat($.attribute), 'model', field('name', $.identifier), '{', repeat($._item), '}'),

    _item: ($) =>
      seq(
        repeat($.attribute),
        choice(
          $.message, $.variable, $.clock, $.constant, $.type_alias, $.enum, $.record, $.function, $.state, $.any,
          $.transition, $._goal,
        ),
      ),
    _goal: ($) => choice($.purpose, $.property, $.response, $.test),

    // A name at the beginning of a line. Words that can begin something else there are names too: the sign after them
    // decides.
    _name: ($) =>
      prec(
        1,
        nameOr(
          $, 'input', 'observed', 'output', 'var', 'clock', 'const', 'type', 'enum', 'record', 'fn', 'state', 'any',
          'on', 'emit', 'internal', 'quiet', 'purpose', 'always', 'sometimes', 'assume', 'every', 'test', 'use',
          'hide', 'expose',
        ),
      ),
    _label: ($) => seq(field('label', $._name), ':'),

    message: ($) =>
      seq(
        choice(seq('observed', 'input'), 'input', 'output'),
        field('name', $.identifier),
        optional($.fields),
      ),
    fields: ($) => seq('(', commaSep($.field), ')'),
    field: ($) => seq(field('name', $.identifier), ':', field('type', $._type)),

    variable: ($) =>
      prec.right(
        seq('var', field('name', $.identifier), ':', field('type', $._type), optional(seq('=', $._expression))),
      ),
    clock: ($) => seq('clock', field('name', $.identifier)),
    constant: ($) =>
      seq('const', field('name', $.identifier), optional(seq(':', field('type', $._type))), '=', $._expression),
    type_alias: ($) => seq('type', field('name', $.identifier), '=', $._type),
    enum: ($) => seq('enum', field('name', $.identifier), '{', commaSep1($.variant), '}'),
    variant: ($) => seq(field('name', $.identifier), optional($.fields)),
    record: ($) => seq('record', field('name', $.identifier), '{', commaSep($.field), '}'),
    function: ($) =>
      seq(
        'fn',
        field('name', $.identifier),
        $.fields,
        '->',
        field('result', $._type),
        '=',
        field('body', $._expression),
      ),

    state: ($) => seq('state', field('name', $.identifier), $.transitions),
    any: ($) => seq('any', $.transitions),
    transitions: ($) => seq('{', repeat(seq(repeat($.attribute), $.transition)), '}'),

    transition: ($) =>
      prec.right(
        seq(
          optional($._label),
          choice(
            seq(choice('on', 'emit'), $._message_name, optional($.pins)),
            'internal',
            'quiet',
          ),
          optional($.guard),
          optional($.updates),
          optional(seq('->', field('target', $.identifier))),
        ),
      ),
    // `say`, or in a system `client.say`.
    _message_name: ($) => seq(repeat(seq(field('part', $.identifier), '.')), field('message', $.identifier)),
    pins: ($) => seq('(', commaSep($.pin), ')'),
    pin: ($) => seq(field('field', $.identifier), ':', $._expression),
    guard: ($) =>
      seq('when', choice(seq($.let, repeat(seq('&&', $.let)), optional(seq('&&', $._expression))), $._expression)),
    // Its precedence ends the value before a `&&` that is not in brackets.
    let: ($) => prec(11, seq('let', $._pattern, '=', $._expression)),
    updates: ($) => seq('{', commaSep(choice($.assignment, $.reset)), '}'),
    assignment: ($) =>
      seq(field('variable', nameOr($, 'reset')), optional(seq('[', $._expression, ']')), '=', $._expression),
    reset: ($) => seq('reset', field('clock', $.identifier)),

    purpose: ($) =>
      prec.right(
        seq(
          'purpose',
          field('name', $.identifier),
          choice(
            seq(':', $._transition_label, repeat(seq(',', $._transition_label))),
            seq(':', 'reach', choice($.guard, seq(field('state', $._name), optional($.guard)))),
            $.observer,
          ),
        ),
      ),
    _transition_label: ($) => field('label', choice($._transition_name, $.label_path)),
    // In a system a label says who moves: `client[2].send+server.take`.
    label_path: ($) =>
      seq($._transition_name, repeat1(choice(seq('.', $.identifier), seq('[', $.number, ']'), seq('+', $.identifier)))),
    _transition_name: ($) => prec(-1, nameOr($, 'reach')),
    observer: ($) =>
      seq(
        '{',
        repeat(seq(repeat($.attribute), choice($.variable, $.clock))),
        repeat(seq(repeat($.attribute), $.state)),
        '}',
      ),
    property: ($) => seq(optional($._label), choice('always', 'sometimes', 'assume'), $._expression),
    response: ($) =>
      prec.right(
        seq(
          optional($._label), 'every', $._message_name, optional($.pins), optional($.guard),
          'is', 'followed', 'by', $._message_name, optional($.pins), optional($.guard),
          optional(seq('within', $._expression)),
        ),
      ),

    test: ($) => seq('test', field('name', $.string), '{', repeat(seq($._step, repeat(';'))), '}'),
    _step: ($) => choice($.send, $.expect, $.silence),
    send: ($) => prec.right(seq('send', $._message_name, optional($.pins), optional($.guard))),
    expect: ($) => prec.right(seq('expect', $._message_name, optional($.pins), optional($.guard))),
    silence: ($) => prec.right(seq('quiet', optional($._expression))),

    system: ($) => seq('system', field('name', $.identifier), '{', repeat($._system_item), '}'),
    _system_item: ($) =>
      seq(
        repeat($.attribute),
        choice($.use, $.constant, $.part, $.channel, $.connection, $.hide, $.expose, $._goal),
      ),
    use: ($) => seq('use', field('model', $.identifier), 'from', field('file', $.string)),
    part: ($) =>
      prec.right(
        seq(
          field('name', $._name),
          optional(seq('[', field('index', $.identifier), 'in', $._expression, '..', $._expression, ']')),
          ':',
          field('model', $.identifier),
          optional($.pins),
        ),
      ),
    channel: ($) =>
      prec(
        1,
        seq(
          field('name', $._name), ':', field('kind', $.identifier), optional($.pins), 'between',
          field('one', $.identifier), 'and', field('other', $.identifier),
        ),
      ),
    connection: ($) => seq($.port, '->', $.port),
    port: ($) =>
      prec.right(
        seq(
          field('part', $._name), optional(seq('[', $._expression, ']')), '.', field('message', $.identifier),
          optional($.pins),
        ),
      ),
    hide: ($) => seq('hide', $.port),
    expose: ($) => seq('expose', $.port, 'as', field('name', $.identifier)),

    _type: ($) => choice($.named_type, $.collection_type, $.range_type, $.bracketed_type, $.option_type),
    bracketed_type: ($) => seq('(', $.range_type, ')'),
    named_type: ($) => $.identifier,
    collection_type: ($) => prec(2, seq(field('name', $.identifier), token.immediate('<'), commaSep1($._type), '>')),
    range_type: ($) => seq($._bound, '..', $._bound),
    // The ends of a range: no comparison, so that `list<0..5>` ends where it should.
    _bound: ($) =>
      choice(
        $.number, $.identifier, $.parenthesized, $.negation, $.arithmetic, $.call, alias($._bound_index, $.index),
        alias($._bound_method, $.method), alias($._bound_selection, $.selection),
      ),
    _bound_index: ($) => prec(10, seq($._bound, '[', $._expression, ']')),
    _bound_method: ($) =>
      prec(10, seq($._bound, '.', field('function', $.identifier), '(', commaSep($._expression), ')')),
    _bound_selection: ($) => prec(10, seq($._bound, '.', field('field', $.identifier))),
    negation: ($) => prec(9, seq('-', $._bound)),
    arithmetic: ($) => prec.left(6, seq($._bound, choice('+', '-', '*', '/', '%'), $._bound)),
    option_type: ($) => prec(12, seq($._type, '?')),

    _expression: ($) =>
      choice(
        $.boolean, $.number, $.string, $.none, $.some, $.identifier, $.parenthesized, $.unary, $.binary, $.case_test,
        $.conditional, $.match, $.quantified, $.counted, $.list, $.braced, $.index, $.call, $.method, $.selection,
      ),

    boolean: () => choice('true', 'false'),
    none: () => 'none',
    some: ($) => seq('some', '(', $._expression, ')'),
    number: () => /[0-9][0-9_]*(\.[0-9][0-9_]*)?[A-Za-z0-9_]*/,
    string: ($) => seq('"', repeat(choice(token.immediate(prec(1, /[^"\\\n]+/)), $.escape)), token.immediate('"')),
    escape: () => token.immediate(seq('\\', choice(/u\{[0-9A-Fa-f]+\}/, /[^\n]/))),
    parenthesized: ($) => seq('(', $._expression, ')'),

    unary: ($) => prec(9, seq(choice('!', '-'), $._expression)),
    binary: ($) =>
      choice(
        prec.right(2, seq($._expression, '=>', $._expression)),
        prec.left(3, seq($._expression, '||', $._expression)),
        prec.left(4, seq($._expression, '&&', $._expression)),
        prec.left(5, seq($._expression, choice('==', '!=', '<', '<=', '>', '>='), $._expression)),
        prec.left(6, seq($._expression, choice('+', '-'), $._expression)),
        prec.left(7, seq($._expression, choice('*', '/', '%'), $._expression)),
      ),
    case_test: ($) => prec.left(5, seq($._expression, 'is', field('case', choice($.identifier, $.none, 'some')))),
    conditional: ($) => prec.right(1, seq('if', $._expression, 'then', $._expression, 'else', $._expression)),
    match: ($) => seq('match', $._expression, '{', commaSep($.arm), '}'),
    arm: ($) => seq($._pattern, '=>', $._expression),
    quantified: ($) =>
      prec.right(
        1,
        seq(
          choice('exists', 'forall'), field('variable', $.identifier), 'in', $._expression,
          optional(seq('..', $._expression)), ':', $._expression,
        ),
      ),
    // `count` alone is a name like any other, so two names in a row decide.
    counted: ($) => prec.right(1, seq($._count_heading, $._expression)),
    _count_heading: ($) =>
      seq(alias($.identifier, $.count), field('variable', $.identifier), 'in', $._items, ':'),
    list: ($) => seq('[', optional(choice($.comprehension, commaSep1($._expression))), ']'),
    braced: ($) => seq('{', optional(choice($.comprehension, commaSep1($._expression), commaSep1($.entry))), '}'),
    entry: ($) => seq($._expression, ':', $._expression),
    comprehension: ($) =>
      seq(
        $._expression,
        'for',
        field('variable', $.identifier),
        'in',
        $._items,
        optional(seq('if', $._expression)),
      ),
    // What a comprehension goes through: a collection or a range.
    _items: ($) => seq($._expression, optional(seq('..', $._expression))),
    index: ($) => prec(10, seq($._expression, '[', $._expression, ']')),
    call: ($) => prec(10, seq(field('function', $.identifier), '(', commaSep(choice($.argument, $._expression)), ')')),
    argument: ($) => seq(field('field', $.identifier), ':', $._expression),
    method: ($) =>
      prec(10, seq($._expression, '.', field('function', $.identifier), '(', commaSep($._expression), ')')),
    selection: ($) => prec(10, seq($._expression, '.', field('field', $.identifier))),

    _pattern: ($) =>
      choice($.wildcard, $.pattern_name, $.none, $.some_pattern, $.case_pattern, $.list_pattern, $._literal),
    wildcard: () => '_',
    pattern_name: ($) => $.identifier,
    some_pattern: ($) => seq('some', '(', choice($.identifier, $.wildcard), ')'),
    case_pattern: ($) => seq(field('case', $.identifier), '(', commaSep(choice($.identifier, $.wildcard)), ')'),
    list_pattern: ($) =>
      seq('[', commaSep(choice($.identifier, $.wildcard, seq('..', choice($.identifier, $.wildcard)))), ']'),
    _literal: ($) => choice($.boolean, $.number, $.string, $.negative),
    negative: ($) => seq('-', $.number),

    // A name that is no word stands in backquotes.
    identifier: () => /[A-Za-z_][A-Za-z0-9_]*|`[^`\x00-\x1f]+`/,
  },
});
