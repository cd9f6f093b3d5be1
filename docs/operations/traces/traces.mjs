// Sends spans of the animal store as OTEL_* settings say. Usage: node --import=DIR/traces.mjs PROGRAM serve
import { register } from 'node:module';
import { diag } from '@opentelemetry/api';
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http';
import { KoaInstrumentation } from '@opentelemetry/instrumentation-koa';
import { MongoDBInstrumentation } from '@opentelemetry/instrumentation-mongodb';
import { PinoInstrumentation } from '@opentelemetry/instrumentation-pino';
import { NodeSDK } from '@opentelemetry/sdk-node';

register('@opentelemetry/instrumentation/hook.mjs', import.meta.url); // for packages that are loaded by import

const sdk = new NodeSDK({
  instrumentations: [
    new HttpInstrumentation({
      ignoreIncomingRequestHook: ({ url }) => url === '/livez' || url === '/readyz',
    }),
    new KoaInstrumentation({ ignoreLayersType: ['middleware'] }),
    new MongoDBInstrumentation(),
    new PinoInstrumentation({ disableLogSending: true }),
  ],
  logRecordProcessors: [],
  metricReaders: [],
});
sdk.start();

// Not at SIGTERM: the service still answers requests then.
process.once('beforeExit', () => {
  sdk.shutdown().catch((error) => diag.error('the last spans were not sent', error));
});
