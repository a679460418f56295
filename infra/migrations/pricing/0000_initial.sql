CREATE SCHEMA IF NOT EXISTS "pricing";
--> statement-breakpoint
CREATE TABLE "pricing"."quotes_taken" (
	"id" uuid PRIMARY KEY NOT NULL,
	"taken_by" text NOT NULL,
	"taken_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL
);
