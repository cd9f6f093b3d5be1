// Chai compares bigints, too; its types do not say so.
declare namespace Chai {
  interface NumberComparer {
    (value: bigint, message?: string): Assertion;
  }
}
