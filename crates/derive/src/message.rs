//! Enums whose variants are messages.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DataEnum, DeriveInput, Error, Field, Fields, Ident, Result, Type, Variant};

use crate::names::{NameAttribute, NameCase};

/// The direction of the messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MessageKind {
    Input,
    Output,
}

/// A field of a message: its name in Rust and in the model, and its type.
pub(crate) struct NamedField<'d> {
    pub(crate) ident: &'d Ident,
    pub(crate) name: String,
    pub(crate) sort: &'d Type,
}

/// A variant: its name in Rust and in the model, and its fields.
pub(crate) struct NamedVariant<'d> {
    pub(crate) ident: &'d Ident,
    pub(crate) name: String,
    pub(crate) fields: Vec<NamedField<'d>>,
}

/// Returns the implementation of `IoxInput` or `IoxOutput` for an enum.
///
/// # Errors
/// If the type is no enum of messages.
pub(crate) fn derive(item: &DeriveInput, kind: MessageKind) -> Result<TokenStream> {
    reject_parameters(item)?;
    let Data::Enum(data) = &item.data else {
        return Err(Error::new_spanned(&item.ident, "messages are the variants of an enum"));
    };
    let variants = variants_of(item, data, Some(NameCase::Snake))?;
    let shapes = variants.iter().map(shape);
    let enum_name = &item.ident;
    let (trait_name, method) = match kind {
        MessageKind::Input => (quote!(IoxInput), reader(&variants)),
        MessageKind::Output => (quote!(IoxOutput), writer(&variants)),
    };
    Ok(quote! {
        #[automatically_derived]
        impl ::ioxide::#trait_name for #enum_name {
            fn messages() -> ::std::vec::Vec<::ioxide::EnumMessage> {
                ::std::vec![#(#shapes),*]
            }
            #method
        }
    })
}

/// Refuses type parameters: a model has fixed types.
pub(crate) fn reject_parameters(item: &DeriveInput) -> Result<()> {
    match item.generics.params.first() {
        Some(first) => Err(Error::new_spanned(first, "types of a model have no parameters")),
        None => Ok(()),
    }
}

/// Returns the variants of an enum, named in `case` unless an attribute says otherwise.
pub(crate) fn variants_of<'d>(
    item: &DeriveInput,
    data: &'d DataEnum,
    case: Option<NameCase>,
) -> Result<Vec<NamedVariant<'d>>> {
    let case = NameAttribute::read(&item.attrs)?.rename_all.or(case);
    let mut variants: Vec<NamedVariant<'d>> = Vec::new();
    for variant in &data.variants {
        let named = named_variant(variant, case)?;
        if variants.iter().any(|other| other.name == named.name) {
            return Err(Error::new_spanned(
                &variant.ident,
                format!("another variant is called `{}`", named.name),
            ));
        }
        variants.push(named);
    }
    Ok(variants)
}

fn named_variant(variant: &Variant, case: Option<NameCase>) -> Result<NamedVariant<'_>> {
    let name = NameAttribute::read(&variant.attrs)?.name_of(&variant.ident, case);
    let fields = match &variant.fields {
        Fields::Unit => Vec::new(),
        Fields::Named(fields) => fields.named.iter().map(named_field).collect::<Result<_>>()?,
        Fields::Unnamed(fields) => {
            let advice =
                format!("fields of a message have names: write `{} {{ name: Type }}`", variant.ident);
            return Err(Error::new_spanned(fields, advice));
        }
    };
    Ok(NamedVariant { ident: &variant.ident, name, fields })
}

/// Returns a field with its name in the model.
pub(crate) fn named_field(field: &Field) -> Result<NamedField<'_>> {
    let ident =
        field.ident.as_ref().ok_or_else(|| Error::new_spanned(field, "fields of a message have names"))?;
    let name = NameAttribute::read(&field.attrs)?.name_of(ident, None);
    Ok(NamedField { ident, name, sort: &field.ty })
}

/// Returns the description of one message: its name, and its fields with their sorts.
fn shape(variant: &NamedVariant<'_>) -> TokenStream {
    let name = &variant.name;
    let fields = variant.fields.iter().map(|field| {
        let (name, sort) = (&field.name, field.sort);
        quote!(::ioxide::EnumField::of::<#sort>(#name))
    });
    quote!(::ioxide::EnumMessage { name: #name, fields: ::std::vec![#(#fields),*] })
}

/// Returns the function that reads an input.
fn reader(variants: &[NamedVariant<'_>]) -> TokenStream {
    let arms = variants.iter().map(|variant| {
        let (ident, name) = (variant.ident, &variant.name);
        let fields = variant.fields.iter().map(|field| {
            let (ident, name) = (field.ident, &field.name);
            quote!(#ident: input.get(#name))
        });
        quote!(#name => ::std::option::Option::Some(Self::#ident { #(#fields),* }),)
    });
    quote! {
        #[track_caller]
        fn from_input(input: &::ioxide::GivenInput<'_>) -> ::std::option::Option<Self> {
            match input.name() {
                #(#arms)*
                _ => ::std::option::Option::None,
            }
        }
    }
}

/// Returns the function that writes an output.
fn writer(variants: &[NamedVariant<'_>]) -> TokenStream {
    let arms = variants.iter().map(|variant| {
        let (ident, name) = (variant.ident, &variant.name);
        let idents: Vec<&Ident> = variant.fields.iter().map(|field| field.ident).collect();
        let names = variant.fields.iter().map(|field| &field.name);
        quote! {
            Self::#ident { #(#idents),* } => outputs.emit(#name, ::ioxide::json!({ #(#names: #idents),* })),
        }
    });
    quote! {
        #[track_caller]
        fn emit_into(self, outputs: &mut ::ioxide::Outputs) {
            match self {
                #(#arms)*
            }
        }
    }
}
