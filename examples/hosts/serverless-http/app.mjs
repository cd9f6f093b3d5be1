// The animal store as an AWS Lambda function behind API Gateway.
import { createNodeListener } from 'animal-store/node';
import serverless from 'serverless-http';

/** The function's handler: `export const handler = lambdaHandler(http)`, with `http` made outside of it, once. */
export const lambdaHandler = (http) => serverless(createNodeListener(http));
