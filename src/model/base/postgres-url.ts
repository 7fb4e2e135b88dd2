/** True for the URL of a PostgreSQL database. */
export function isPostgresUrl(text: string): boolean {
  return /^postgres(?:ql)?:\/\//i.test(text);
}

/** A folder, or a URL without its password. */
export function hidePassword(place: string): string {
  return place
    .replace(/^([a-z]+:\/\/[^:@/?#]*):[^@/]*@/i, "$1:***@")
    .replace(/([?&]password=)[^&]*/i, "$1***");
}

/** True if a URL contains a password. */
export function hasPassword(url: string): boolean {
  return hidePassword(url) !== url;
}
