CREATE TABLE "books"."heartbeats" (
	"name" text PRIMARY KEY NOT NULL,
	"beat_at" timestamp (3) with time zone NOT NULL
);
