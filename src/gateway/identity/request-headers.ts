/** Headers of a request, by lower-case name. */
export type RequestHeaders = { readonly [name: string]: string | readonly string[] | undefined };

/** The value of a header, or the first value if it was sent several times. */
export function findHeader(headers: RequestHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === "string" ? value : value?.[0];
}
