/** Kinds of files that repeat code implemented elsewhere and are rarely the cause of a problem. */
const KINDS = {
  test: /(?:^|\/)(?:tests?|testing|__tests__|spec)\/|(?:^|\/)(?:test_[^/]*|[^/]*_test|conftest)\.\w+$|\.(?:test|spec)\.\w+$/i,
  document: /(?:^|\/)(?:docs?|examples?|samples?|bench(?:mark)?s?|tutorials?)\//i,
  vendored: /(?:^|\/)(?:vendor|vendored|_vendor|third_party|node_modules)\//i,
  setup: /(?:^|\/)(?:setup|__init__|__version__|version|conf)\.\w+$/i,
} as const;

/** A kind of file, other than ordinary sources. */
export type FileKind = keyof typeof KINDS;

/** True if a path within a project is one of a kind. */
export function isFileOfKind(path: string, kind: FileKind): boolean {
  return KINDS[kind].test(path);
}
