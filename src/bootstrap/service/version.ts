/** The version of this package: that of package.json, as a constant, so that the service can be bundled. */
export const VERSION = '0.4.0';
