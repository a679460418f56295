CREATE TABLE "ops"."approvals" (
	"command" uuid NOT NULL,
	"hash" text NOT NULL,
	"by" text NOT NULL,
	"second" text,
	"beneficiary" text NOT NULL,
	"micro" numeric(78,0),
	"counts" boolean DEFAULT true NOT NULL,
	"approved_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "approvals_command_hash_pk" PRIMARY KEY("command","hash"),
	CONSTRAINT "approvals_pair" CHECK ("ops"."approvals"."second" <> "ops"."approvals"."by")
);
--> statement-breakpoint
CREATE TABLE "ops"."proposals" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "ops"."proposals_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"command_id" uuid NOT NULL,
	"subject" text NOT NULL,
	"request" jsonb NOT NULL,
	"terms" jsonb NOT NULL,
	"line" jsonb NOT NULL,
	"signed_by" text NOT NULL,
	"signature" text NOT NULL,
	"until" timestamp (3) with time zone NOT NULL,
	"proposed_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "ops"."proposals" ADD CONSTRAINT "proposals_command_id_commands_id_fk" FOREIGN KEY ("command_id") REFERENCES "ops"."commands"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "approvals_lately" ON "ops"."approvals" USING btree ("approved_at");