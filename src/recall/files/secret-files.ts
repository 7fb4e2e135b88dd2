/** Folders with keys and credentials. */
const FOLDERS: ReadonlySet<string> = new Set([
  ".ssh",
  ".gnupg",
  ".aws",
  ".azure",
  ".kube",
  ".docker",
  ".password-store",
]);
const NAMES: ReadonlySet<string> = new Set([
  ".npmrc",
  ".netrc",
  "_netrc",
  ".pypirc",
  ".pgpass",
  ".my.cnf",
  ".htpasswd",
  ".git-credentials",
  ".dockercfg",
  ".s3cfg",
  ".boto",
  ".vault-token",
  "credentials",
  "credentials.json",
  "shadow",
]);
const ENDINGS = /\.(?:pem|key|p8|p12|pfx|jks|keystore|kdbx|ppk|asc|gpg|age|tfstate)$/;
/** Environment files, and private keys as named by ssh. */
const PATTERNS = /^\.env(?:rc)?(?:\..*)?$|^id_[a-z0-9]+(?:_sk)?(?:\.pub)?$/;

/** True if a file's name is typical for keys or passwords. */
export function isSecretFile(name: string): boolean {
  const lower = name.toLowerCase();
  return NAMES.has(lower) || ENDINGS.test(lower) || PATTERNS.test(lower);
}

/** True if a folder's name is typical for keys or passwords. */
export function isSecretFolder(name: string): boolean {
  return FOLDERS.has(name.toLowerCase());
}
