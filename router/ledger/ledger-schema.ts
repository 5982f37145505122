/** Version of `ledgerSchema`, kept in the file's `user_version`. */
export const ledgerVersion = 1;

/**
 * One row a lease and unit; what is used is summed from rows, never stored. `opening` remembers where an
 * anchored window began, `spent` what a provider said against our count. Times are whole ms since the epoch.
 */
export const ledgerSchema = `
CREATE TABLE use (
  lease TEXT NOT NULL,
  scope TEXT NOT NULL,
  unit TEXT NOT NULL CHECK (unit IN ('request', 'token')),
  at_ms INTEGER NOT NULL,
  units INTEGER NOT NULL CHECK (units >= 0),
  state TEXT NOT NULL CHECK (state IN ('reserved', 'committed', 'released')),
  origin TEXT NOT NULL CHECK (origin IN ('interactive', 'background', 'external')),
  agent TEXT,
  task TEXT,
  PRIMARY KEY (lease, unit)
) STRICT, WITHOUT ROWID;
CREATE INDEX use_counted ON use (scope, unit, at_ms, units) WHERE state <> 'released';
CREATE TABLE opening (
  scope TEXT NOT NULL,
  window TEXT NOT NULL,
  opened_at_ms INTEGER NOT NULL,
  PRIMARY KEY (scope, window)
) STRICT, WITHOUT ROWID;
CREATE TABLE spent (
  scope TEXT NOT NULL,
  window TEXT NOT NULL,
  until_ms INTEGER NOT NULL,
  seen_at_ms INTEGER NOT NULL,
  PRIMARY KEY (scope, window)
) STRICT, WITHOUT ROWID;
PRAGMA user_version = ${ledgerVersion};
`;
