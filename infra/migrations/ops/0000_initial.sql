CREATE SCHEMA IF NOT EXISTS "ops";
--> statement-breakpoint
CREATE TABLE "ops"."deeds" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"verb" text NOT NULL,
	"target" text NOT NULL,
	"cause" text NOT NULL,
	"reason" text NOT NULL,
	"asked_by" text NOT NULL,
	"asked_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "deeds_once" UNIQUE("verb","target","cause"),
	CONSTRAINT "deeds_words" CHECK ("ops"."deeds"."reason" <> '' and "ops"."deeds"."asked_by" <> '')
);
--> statement-breakpoint
CREATE TABLE "ops"."outcomes" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "ops"."outcomes_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"deed_id" uuid NOT NULL,
	"outcome" text NOT NULL,
	"said" text NOT NULL,
	"told_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "outcomes_outcome" CHECK ("ops"."outcomes"."outcome" in ('done', 'refused'))
);
--> statement-breakpoint
ALTER TABLE "ops"."outcomes" ADD CONSTRAINT "outcomes_deed_id_deeds_id_fk" FOREIGN KEY ("deed_id") REFERENCES "ops"."deeds"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "outcomes_done" ON "ops"."outcomes" USING btree ("deed_id") WHERE "ops"."outcomes"."outcome" = 'done';