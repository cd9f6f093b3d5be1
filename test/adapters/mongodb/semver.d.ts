// The types of mongodb-memory-server ask for those of a package that it does not bring; nothing of them is used.
declare module 'semver' {
  export interface SemVer {
    readonly version: string;
  }
}
