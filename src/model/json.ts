/** A value that JSON can hold and return unchanged. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
