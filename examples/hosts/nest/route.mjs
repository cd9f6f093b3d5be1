// The animal store as a middleware of a NestJS module, for the routes below a prefix.
import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { createNodeListener } from 'animal-store/node';

export const MOUNT_PATH = '/shop';

/**
 * Starts the application. Nest's body parsers run before a module's middlewares. Without them the animal store reads
 * bodies itself; with `rawBody: true` it uses the bytes that they keep.
 */
export async function listen(http, options = {}) {
  const { port = 0, path = MOUNT_PATH, before = [], nest = { bodyParser: false } } = options;
  class AnimalsModule {
    configure(consumer) {
      consumer.apply(createNodeListener(http)).forRoutes(path);
    }
  }
  Module({})(AnimalsModule);

  const app = await NestFactory.create(AnimalsModule, { logger: ['error'], ...nest });
  app.disable('x-powered-by');
  for (const middleware of before) app.use(middleware);
  await app.listen(port, '127.0.0.1');
  return app.getHttpServer();
}
