/** Headers of a request, their names in lower case. */
export type Headers = { readonly [name: string]: string | readonly string[] | undefined };

/** The value of a header; the first one where it was sent several times. */
export function headerOf(headers: Headers, name: string): string | undefined {
  const value = headers[name];
  return typeof value === "string" ? value : value?.[0];
}
