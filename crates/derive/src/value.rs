//! Structs and enums inside messages: records and enums of models.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Error, Fields, Result, Type};

use crate::message::{NamedField, named_field, reject_parameters, variants_of};

/// Returns the implementation of `IoxValue`.
///
/// # Errors
/// If the type is neither a struct with named fields nor an enum of such variants.
pub(crate) fn derive(item: &DeriveInput) -> Result<TokenStream> {
    reject_parameters(item)?;
    let ident = &item.ident;
    let name = ident.to_string();
    let (declaration, sorts) = declaration(item)?;
    Ok(quote! {
        #[automatically_derived]
        impl ::ioxide::IoxValue for #ident {
            fn sort() -> ::std::string::String {
                #name.into()
            }

            fn declare(types: &mut ::ioxide::TypeDeclarations) {
                if types.begin(#name) {
                    let text = #declaration;
                    types.define(#name, text);
                    #(<#sorts as ::ioxide::IoxValue>::declare(types);)*
                }
            }
        }
    })
}

/// Returns an expression for the text of the declaration, and the types that it mentions.
fn declaration(item: &DeriveInput) -> Result<(TokenStream, Vec<Type>)> {
    let name = item.ident.to_string();
    match &item.data {
        Data::Struct(data) => {
            let Fields::Named(fields) = &data.fields else {
                return Err(Error::new_spanned(&item.ident, "the fields of a record have names"));
            };
            let fields = fields.named.iter().map(named_field).collect::<Result<Vec<_>>>()?;
            let (text, sorts) = (field_list(&fields), sorts_of(&fields));
            Ok((quote!(::std::format!("record {} {{ {} }}", #name, #text)), sorts))
        }
        Data::Enum(data) => {
            let variants = variants_of(item, data, None)?;
            let sorts = variants.iter().flat_map(|variant| sorts_of(&variant.fields)).collect();
            let cases = variants.iter().map(|variant| {
                let (case, text) = (&variant.name, field_list(&variant.fields));
                if variant.fields.is_empty() {
                    quote!(::std::string::String::from(#case))
                } else {
                    quote!(::std::format!("{}({})", #case, #text))
                }
            });
            let cases = quote!([#(#cases),*].join(", "));
            Ok((quote!(::std::format!("enum {} {{ {} }}", #name, #cases)), sorts))
        }
        Data::Union(_) => Err(Error::new_spanned(&item.ident, "a union is not a value of a model")),
    }
}

/// Returns an expression for `name: sort, ...`.
fn field_list(fields: &[NamedField<'_>]) -> TokenStream {
    let parts = fields.iter().map(|field| {
        let (name, sort) = (&field.name, field.sort);
        quote!(::std::format!("{}: {}", #name, <#sort as ::ioxide::IoxValue>::sort()))
    });
    quote!({
        let fields: ::std::vec::Vec<::std::string::String> = ::std::vec![#(#parts),*];
        fields.join(", ")
    })
}

fn sorts_of(fields: &[NamedField<'_>]) -> Vec<Type> {
    fields.iter().map(|field| field.sort.clone()).collect()
}
