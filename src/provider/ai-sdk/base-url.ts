/** Rules for completing an address that a person wrote. */
export interface AddressForm {
  /** Appended if the address names no API version, for example `/v1`. */
  readonly versionPath: string;
  /** Port for an address that is only a host. */
  readonly defaultPort?: number;
}

/**
 * Completes an address as people write it: with or without scheme, port and version, `0.0.0.0` for the local machine.
 * Undefined if it is not an HTTP address.
 */
export function completeBaseUrl(
  written: string,
  { versionPath, defaultPort }: AddressForm,
): string | undefined {
  const hasScheme = /^[a-z][a-z0-9+.-]*:\/\//i.test(written);
  const address = hasScheme ? written : `http://${written.replace(/^(?=:)/, "127.0.0.1")}`;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) return undefined;
  if (url.hostname === "0.0.0.0" || url.hostname === "[::]") url.hostname = "127.0.0.1";
  if (!hasScheme && url.port === "" && defaultPort !== undefined) url.port = String(defaultPort);
  const path = url.pathname.replace(/\/+$/, "");
  url.pathname = /\/v\d\w*(?:\/|$)/.test(path) ? path : `${path}${versionPath}`;
  return url.href;
}
